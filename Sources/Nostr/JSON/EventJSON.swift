extension UnsignedEvent {
    /// `[0,"pubkey",created_at,kind,tags,"content"]`, byte for byte as NIP-01 prescribes: UTF-8, no white space, seven
    /// characters escaped and all others verbatim, including control characters.
    public var canonicalSerialization: [UInt8] { serialization(.verbatim) }

    /// Returns whether `id` is this event's id, computed either as in NIP-01 or as most programs compute it.
    ///
    /// Those hash their library's JSON, which escapes control characters without a short escape as `\u00XX` where
    /// NIP-01 requires them verbatim. A rumor is never signed, so either hash identifies the same content.
    public func hasID(_ id: EventID) -> Bool {
        self.id == id || self.escapedID == id
    }

    /// The id as most programs compute it, from JSON with escaped control characters; see ``hasID(_:)``. Without control
    /// characters other than those with a short escape, it equals ``id``.
    public var escapedID: EventID { EventID(value: .sha256(serialization(.escaped))) }

    private func serialization(_ controls: JSONWriter.Controls) -> [UInt8] {
        var writer = JSONWriter(capacity: estimatedSize, controls: controls)
        writer.raw("[0,")
        writer.hex(pubkey.value)
        writer.raw(",")
        writer.integer(createdAt.seconds)
        writer.raw(",")
        writer.integer(kind.rawValue)
        writer.raw(",")
        writer.tags(tags)
        writer.raw(",")
        writer.string(content)
        writer.raw("]")
        return writer.bytes
    }

    /// Returns the rumor's JSON: `id`, `pubkey`, `created_at`, `kind`, `tags`, `content`, in this order (NIP-59).
    public func rumorJSON() -> [UInt8] { self.rumorJSON(stating: self.id) }

    /// Returns ``rumorJSON()`` with another stated id, such as ``escapedID``.
    public func rumorJSON(stating id: EventID) -> [UInt8] {
        var writer = JSONWriter(capacity: estimatedSize)
        writer.members(of: self, id: id)
        writer.raw("}")
        return writer.bytes
    }

    /// Parses a rumor. The caller must compare the stated id, if any, with the content. Ignores a signature.
    public static func parseRumor(
        _ json: some Collection<UInt8>
    ) throws(NostrError) -> (event: UnsignedEvent, statedID: EventID?) {
        let fields = try JSONReader.read(json) { reader throws(NostrError) in try EventFields(&reader, signed: false) }
        return (try fields.unsigned(), fields.id.map(EventID.init(value:)))
    }

    fileprivate var estimatedSize: Int {
        tags.reduce(384 + content.utf8.count) { size, tag in
            tag.values.reduce(size + 3) { $0 + $1.utf8.count + 3 }
        }
    }
}

extension Event {
    /// Parses an event; throws for malformed JSON or JSON that is not an event. Does not check the id and signature.
    public init(json: some Collection<UInt8>) throws(NostrError) {
        self = try JSONReader.read(json) { reader throws(NostrError) in try Event(&reader) }
    }

    /// Returns compact JSON: `id`, `pubkey`, `created_at`, `kind`, `tags`, `content`, `sig`, in this order.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: unsigned.estimatedSize)
        writer.event(self)
        return writer.bytes
    }

    init(_ reader: inout JSONReader) throws(NostrError) {
        let fields = try EventFields(&reader, signed: true)
        guard let id = fields.id else { throw EventFields.missing("id") }
        guard let signature = fields.signature else { throw EventFields.missing("sig") }
        let unsigned = try fields.unsigned()
        self.init(
            id: EventID(value: id), pubkey: unsigned.pubkey, createdAt: unsigned.createdAt, kind: unsigned.kind,
            tags: unsigned.tags, content: unsigned.content, signature: signature)
    }
}

extension JSONWriter {
    mutating func event(_ event: Event) {
        members(of: event.unsigned, id: event.id)
        raw(",\"sig\":")
        hex(event.signature)
        raw("}")
    }

    fileprivate mutating func members(of event: UnsignedEvent, id: EventID) {
        raw("{\"id\":")
        hex(id.value)
        raw(",\"pubkey\":")
        hex(event.pubkey.value)
        raw(",\"created_at\":")
        integer(event.createdAt.seconds)
        raw(",\"kind\":")
        integer(event.kind.rawValue)
        raw(",\"tags\":")
        tags(event.tags)
        raw(",\"content\":")
        string(event.content)
    }
}

/// Members of an event's object that are present. Of a repeated member the first counts.
private struct EventFields {
    var id: Bytes32?
    var pubkey: Bytes32?
    var createdAt: UnixTime?
    var kind: UInt16?
    var tags: [Tag]?
    var content: String?
    var signature: Signature?

    init(_ reader: inout JSONReader, signed: Bool) throws(NostrError) {
        try reader.enterObject()
        while let name = try reader.nextMember() {
            switch name {
            case "id" where id == nil: id = try reader.hex32()
            case "pubkey" where pubkey == nil: pubkey = try reader.hex32()
            case "created_at" where createdAt == nil: createdAt = try EventFields.timestamp(&reader)
            case "kind" where kind == nil: kind = try reader.integer(UInt16.self)
            case "tags" where tags == nil: tags = try EventFields.tags(&reader)
            case "content" where content == nil: content = try reader.string()
            case "sig" where signed && signature == nil: signature = try reader.signature()
            default: try reader.skip()
            }
        }
    }

    func unsigned() throws(NostrError) -> UnsignedEvent {
        guard let pubkey else { throw EventFields.missing("pubkey") }
        guard let createdAt else { throw EventFields.missing("created_at") }
        guard let kind else { throw EventFields.missing("kind") }
        guard let tags else { throw EventFields.missing("tags") }
        guard let content else { throw EventFields.missing("content") }
        return UnsignedEvent(
            pubkey: PublicKey(value: pubkey), createdAt: createdAt, kind: Kind(rawValue: kind), tags: tags,
            content: content)
    }

    static func missing(_ name: String) -> NostrError { NostrError(.missingField, "the event lacks `\(name)`") }

    /// Reads a time; refuses negative ones, since most of the network stores unsigned times and would drop the event.
    private static func timestamp(_ reader: inout JSONReader) throws(NostrError) -> UnixTime {
        let start = reader.position
        let value = try reader.integer()
        guard value >= 0 else { throw reader.outOfRange(start) }
        return UnixTime(value)
    }

    private static func tags(_ reader: inout JSONReader) throws(NostrError) -> [Tag] {
        var tags: [Tag] = []
        try reader.enterArray()
        while try reader.nextElement() { tags.append(Tag(values: try reader.strings())) }
        return tags
    }
}

extension JSONReader {
    mutating func strings() throws(NostrError) -> [String] {
        var values: [String] = []
        try enterArray()
        while try nextElement() { values.append(try string()) }
        return values
    }
}
