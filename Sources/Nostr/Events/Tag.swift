/// Tag of an event: a name and its values, all strings (NIP-01).
public struct Tag: Hashable, Sendable {
    /// All strings, the name first; may be empty.
    public var values: [String]

    /// Creates a tag from its strings, the name first.
    public init(_ values: String...) { self.values = values }
    /// Creates a tag from an array of strings, the name first.
    public init(values: [String]) { self.values = values }

    /// The first string; empty for a tag without strings.
    public var name: String { values.first ?? "" }

    /// The second string, the only one that relays index.
    public var value: String? { values.count > 1 ? values[1] : nil }
}

extension Tag {
    /// Returns `["e", id]`, which refers to an event.
    public static func event(_ id: EventID) -> Tag { Tag("e", id.hex) }

    /// Returns `["p", key]`, which refers to a user.
    public static func user(_ key: PublicKey) -> Tag { Tag("p", key.hex) }
}

extension [Tag] {
    /// Returns the first tag with that name.
    public func first(named name: String) -> Tag? { first { $0.name == name } }

    /// Returns all tags with that name, in order.
    public func all(named name: String) -> [Tag] { filter { $0.name == name } }
}
