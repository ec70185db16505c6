extension ClientMessage {
    /// Maximum length of a subscription id in characters (NIP-01).
    public static let maximumSubscriptionLength = 64

    /// Parses a message array. Ignores elements after those that NIP-01 defines.
    ///
    /// - Throws: for malformed JSON; `NostrError.Code.unknownMessage`; `NostrError.Code.invalidSubscription`.
    public init(json: some Collection<UInt8>) throws(NostrError) {
        self = try JSONReader.read(json) { reader throws(NostrError) in try ClientMessage(&reader) }
    }

    private init(_ reader: inout JSONReader) throws(NostrError) {
        try reader.enterArray()
        try reader.requireElement("a message type")
        let type = try reader.string()
        switch type {
        case "EVENT": self = .event(try reader.eventElement())
        case "AUTH": self = .authenticate(try reader.eventElement())
        case "CLOSE": self = .close(subscription: try reader.subscription())
        case "REQ":
            self = .request(subscription: try reader.subscription(), filters: try reader.filters())
            return
        case "COUNT":
            self = .count(subscription: try reader.subscription(), filters: try reader.filters())
            return
        default: throw NostrError(.unknownMessage, "unknown client message type \(type.prefix(32))")
        }
        try reader.leaveArray()
    }

    /// Returns the message as a compact JSON array, with its type as the first element.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        switch self {
        case .event(let event):
            writer.raw("[\"EVENT\",")
            writer.event(event)
        case .authenticate(let event):
            writer.raw("[\"AUTH\",")
            writer.event(event)
        case .close(let subscription):
            writer.raw("[\"CLOSE\",")
            writer.string(subscription)
        case .request(let subscription, let filters):
            writer.raw("[\"REQ\",")
            writer.query(subscription, filters)
        case .count(let subscription, let filters):
            writer.raw("[\"COUNT\",")
            writer.query(subscription, filters)
        }
        writer.raw("]")
        return writer.bytes
    }
}

extension JSONReader {
    /// Throws unless the message array has one more element, to be read next.
    mutating func requireElement(_ what: String) throws(NostrError) {
        guard try nextElement() else { throw NostrError(.missingField, "the message lacks \(what)") }
    }

    mutating func stringElement(_ what: String) throws(NostrError) -> String {
        try requireElement(what)
        return try string()
    }

    mutating func eventElement() throws(NostrError) -> Event {
        try requireElement("an event")
        return try Event(&self)
    }

    /// Skips the rest of the array.
    mutating func leaveArray() throws(NostrError) {
        while try nextElement() { try skip() }
    }

    fileprivate mutating func subscription() throws(NostrError) -> String {
        let name = try stringElement("a subscription id")
        guard !name.isEmpty, name.unicodeScalars.count <= ClientMessage.maximumSubscriptionLength else {
            throw NostrError(.invalidSubscription, "a subscription id must have 1 to 64 characters")
        }
        return name
    }

    /// Reads one or more filters up to the end of the array.
    fileprivate mutating func filters() throws(NostrError) -> [Filter] {
        try requireElement("a filter")
        var filters = [try Filter(&self)]
        while try nextElement() { filters.append(try Filter(&self)) }
        return filters
    }
}

extension JSONWriter {
    fileprivate mutating func query(_ subscription: String, _ filters: [Filter]) {
        string(subscription)
        for filter in filters {
            raw(",")
            self.filter(filter)
        }
    }
}
