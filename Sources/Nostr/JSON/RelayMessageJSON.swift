extension RelayMessage {
    /// Parses a message array; throws for malformed JSON and `NostrError.Code.unknownMessage`. The text of `OK` and
    /// `CLOSED`, which some relays omit, defaults to empty. Ignores further elements.
    public init(json: some Collection<UInt8>) throws(NostrError) {
        self = try JSONReader.read(json) { reader throws(NostrError) in try RelayMessage(&reader) }
    }

    private init(_ reader: inout JSONReader) throws(NostrError) {
        try reader.enterArray()
        let type = try reader.stringElement("a message type")
        switch type {
        case "EVENT":
            self = .event(subscription: try reader.stringElement("a subscription id"), try reader.eventElement())
        case "OK":
            self = try RelayMessage.ok(&reader)
            return
        case "EOSE": self = .endOfStoredEvents(subscription: try reader.stringElement("a subscription id"))
        case "CLOSED":
            let subscription = try reader.stringElement("a subscription id")
            self = .closed(subscription: subscription, message: try reader.lastString())
            return
        case "NOTICE": self = .notice(try reader.stringElement("a text"))
        case "AUTH": self = .authentication(challenge: try reader.stringElement("a challenge"))
        case "COUNT":
            self = .count(subscription: try reader.stringElement("a subscription id"), try reader.countElement())
        default: throw NostrError(.unknownMessage, "unknown relay message type \(type.prefix(32))")
        }
        try reader.leaveArray()
    }

    private static func ok(_ reader: inout JSONReader) throws(NostrError) -> RelayMessage {
        let text = try reader.stringElement("an event id")
        var id: EventID?
        if !text.isEmpty {
            guard let value = Bytes32(hex: text) else {
                throw NostrError(.invalidHex, "the event id of OK must be 64 hexadecimal digits")
            }
            id = EventID(value: value)
        }
        try reader.requireElement("true or false")
        let accepted = try reader.bool()
        return .ok(id, accepted: accepted, message: try reader.lastString())
    }

    /// Returns the message as a compact JSON array, with its type as the first element.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        switch self {
        case .event(let subscription, let event):
            writer.raw("[\"EVENT\",")
            writer.string(subscription)
            writer.raw(",")
            writer.event(event)
        case .ok(let id, let accepted, let message):
            writer.raw("[\"OK\",")
            if let id { writer.hex(id.value) } else { writer.raw("\"\"") }
            accepted ? writer.raw(",true,") : writer.raw(",false,")
            writer.string(message)
        case .endOfStoredEvents(let subscription):
            writer.raw("[\"EOSE\",")
            writer.string(subscription)
        case .closed(let subscription, let message):
            writer.raw("[\"CLOSED\",")
            writer.string(subscription)
            writer.raw(",")
            writer.string(message)
        case .notice(let text):
            writer.raw("[\"NOTICE\",")
            writer.string(text)
        case .authentication(let challenge):
            writer.raw("[\"AUTH\",")
            writer.string(challenge)
        case .count(let subscription, let count):
            writer.raw("[\"COUNT\",")
            writer.string(subscription)
            writer.raw(",{\"count\":")
            writer.integer(count)
            writer.raw("}")
        }
        writer.raw("]")
        return writer.bytes
    }
}

extension JSONReader {
    /// Reads a string if one follows, otherwise returns an empty one; then skips the rest of the array.
    fileprivate mutating func lastString() throws(NostrError) -> String {
        guard try nextElement() else { return "" }
        let text = try string()
        try leaveArray()
        return text
    }

    /// Reads `{"count": n}` (NIP-45).
    fileprivate mutating func countElement() throws(NostrError) -> Int {
        try requireElement("a count")
        var count: Int?
        try enterObject()
        while let name = try nextMember() {
            if name == "count", count == nil {
                count = Int(clamping: try integer(UInt64.self))
            } else {
                try skip()
            }
        }
        guard let count else { throw NostrError(.missingField, "the COUNT message lacks `count`") }
        return count
    }
}
