extension UnsignedEvent {
    /// Parses a rumor that has exactly the members `id`, `pubkey`, `created_at`, `kind`, `tags` and `content`, in any
    /// order; the caller must compare the stated id with the content.
    ///
    /// - Throws: `NostrError.Code.malformedJSON` for any other or repeated member; otherwise as
    ///   ``parseRumor(_:)`` does.
    public static func parseStrictRumor(
        _ json: some Collection<UInt8>
    ) throws(NostrError) -> (event: UnsignedEvent, statedID: EventID) {
        try JSONReader.read(json) { reader throws(NostrError) in
            var fields = StrictFields()
            try reader.enterObject()
            while let name = try reader.nextMember() { try fields.read(name, &reader) }
            return try fields.rumor()
        }
    }
}

/// The six members of a strict rumor.
private struct StrictFields {
    private var id: Bytes32?
    private var pubkey: Bytes32?
    private var createdAt: UnixTime?
    private var kind: UInt16?
    private var tags: [Tag]?
    private var content: String?

    mutating func read(_ name: String, _ reader: inout JSONReader) throws(NostrError) {
        switch name {
        case "id" where self.id == nil: self.id = try reader.hex32()
        case "pubkey" where self.pubkey == nil: self.pubkey = try reader.hex32()
        case "created_at" where self.createdAt == nil:
            let start = reader.position
            let time = try reader.integer()
            guard time >= 0 else { throw reader.outOfRange(start) }
            self.createdAt = UnixTime(time)
        case "kind" where self.kind == nil: self.kind = try reader.integer(UInt16.self)
        case "tags" where self.tags == nil:
            var tags: [Tag] = []
            try reader.enterArray()
            while try reader.nextElement() { tags.append(Tag(values: try reader.strings())) }
            self.tags = tags
        case "content" where self.content == nil: self.content = try reader.string()
        default:
            throw NostrError(
                .malformedJSON,
                "expected only id, pubkey, created_at, kind, tags and content, once each; found "
                    + name.debugDescription.prefix(40))
        }
    }

    func rumor() throws(NostrError) -> (event: UnsignedEvent, statedID: EventID) {
        guard let id else { throw Self.missing("id") }
        guard let pubkey else { throw Self.missing("pubkey") }
        guard let createdAt else { throw Self.missing("created_at") }
        guard let kind else { throw Self.missing("kind") }
        guard let tags else { throw Self.missing("tags") }
        guard let content else { throw Self.missing("content") }
        let event = UnsignedEvent(
            pubkey: PublicKey(value: pubkey), createdAt: createdAt, kind: Kind(rawValue: kind), tags: tags,
            content: content)
        return (event, EventID(value: id))
    }

    private static func missing(_ name: String) -> NostrError {
        NostrError(.missingField, "the event lacks `\(name)`")
    }
}
