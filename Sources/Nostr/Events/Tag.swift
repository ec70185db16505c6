/// One tag of an event: a name and what belongs to it, all strings (NIP-01).
public struct Tag: Hashable, Sendable {
    public var values: [String]

    public init(_ values: String...) { self.values = values }
    public init(values: [String]) { self.values = values }

    /// The first string; empty for a tag without any.
    public var name: String { values.first ?? "" }

    /// The second string, the only one relays index.
    public var value: String? { values.count > 1 ? values[1] : nil }
}

extension Tag {
    /// `["e", id]`: refers to an event.
    public static func event(_ id: EventID) -> Tag { Tag("e", id.hex) }

    /// `["p", key]`: refers to a user.
    public static func user(_ key: PublicKey) -> Tag { Tag("p", key.hex) }
}

extension [Tag] {
    /// The first tag of that name.
    public func first(named name: String) -> Tag? { first { $0.name == name } }

    /// All tags of that name, in order.
    public func all(named name: String) -> [Tag] { filter { $0.name == name } }
}
