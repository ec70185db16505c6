extension Filter {
    /// Parses a filter; throws for malformed JSON or JSON that is not a filter. Ignores members that NIP-01 does not
    /// define.
    public init(json: some Collection<UInt8>) throws(NostrError) {
        self = try JSONReader.read(json) { reader throws(NostrError) in try Filter(&reader) }
    }

    /// Returns compact JSON: `ids`, `authors`, `kinds`, the tags by name, `since`, `until`, `limit`, each if set.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.filter(self)
        return writer.bytes
    }

    init(_ reader: inout JSONReader) throws(NostrError) {
        self.init()
        try reader.enterObject()
        while let name = try reader.nextMember() {
            switch name {
            case "ids" where ids == nil:
                ids = try Filter.list(&reader) { reader throws(NostrError) in EventID(value: try reader.hex32()) }
            case "authors" where authors == nil:
                authors = try Filter.list(&reader) { reader throws(NostrError) in
                    PublicKey(value: try reader.hex32())
                }
            case "kinds" where kinds == nil:
                kinds = try Filter.list(&reader) { reader throws(NostrError) in
                    Kind(rawValue: try reader.integer(UInt16.self))
                }
            case "since" where since == nil: since = UnixTime(try reader.integer())
            case "until" where until == nil: until = UnixTime(try reader.integer())
            case "limit" where limit == nil: limit = Int(clamping: try reader.integer(UInt64.self))
            default:
                if let tag = Filter.tagName(name), tags[tag] == nil {
                    tags[tag] = try reader.strings()
                } else {
                    try reader.skip()
                }
            }
        }
    }

    /// Returns the letter of a member named `#` and one letter; nil for other members.
    private static func tagName(_ member: String) -> String? {
        let bytes = Array(member.utf8)
        guard bytes.count == 2, bytes[0] == UInt8(ascii: "#"), (0x61...0x7a).contains(bytes[1] | 0x20) else {
            return nil
        }
        return String(member.dropFirst())
    }

    private static func list<Element>(
        _ reader: inout JSONReader, _ read: (inout JSONReader) throws(NostrError) -> Element
    ) throws(NostrError) -> [Element] {
        var elements: [Element] = []
        try reader.enterArray()
        while try reader.nextElement() { elements.append(try read(&reader)) }
        return elements
    }
}

extension JSONWriter {
    mutating func filter(_ filter: Filter) {
        raw("{")
        var first = true
        func name(_ writer: inout JSONWriter, _ name: String) {
            if !first { writer.raw(",") }
            first = false
            writer.string(name)
            writer.raw(":")
        }
        if let ids = filter.ids {
            name(&self, "ids")
            array(ids) { $0.hex($1.value) }
        }
        if let authors = filter.authors {
            name(&self, "authors")
            array(authors) { $0.hex($1.value) }
        }
        if let kinds = filter.kinds {
            name(&self, "kinds")
            array(kinds) { $0.integer($1.rawValue) }
        }
        for (tag, values) in filter.tags.sorted(by: { $0.key < $1.key }) {
            name(&self, "#" + tag)
            array(values) { $0.string($1) }
        }
        for (bound, value) in [
            ("since", filter.since?.seconds), ("until", filter.until?.seconds),
            ("limit", filter.limit.map(Int64.init)),
        ] {
            guard let value else { continue }
            name(&self, bound)
            integer(value)
        }
        raw("}")
    }
}
