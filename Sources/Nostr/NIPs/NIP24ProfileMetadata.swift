/// What a user says of itself: the content of kind 0 (NIP-01, NIP-24).
///
/// Members that have no property here, and those of a wrong type, stay as they came when a profile is written again.
/// Numbers among them keep their value, not their spelling.
public struct ProfileMetadata: Hashable, Sendable {
    /// Longer content is refused; relays commonly take events of this size at most.
    public static let maximumBytes = 65_536

    /// All members in the order they came.
    public private(set) var members: JSONObject

    public init() { self.members = JSONObject() }

    /// Reads the content of an event.
    ///
    /// Throws ``NostrError/Code/invalidPayloadSize`` if it is too long, ``NostrError/Code/unexpectedType`` for JSON
    /// that is no object, and as ``JSONValue/init(json:)-(Collection<UInt8>)`` does.
    public init(content: String) throws(NostrError) {
        guard content.utf8.count <= Self.maximumBytes else {
            throw NostrError(.invalidPayloadSize, "a profile has at most \(Self.maximumBytes) bytes")
        }
        guard case .object(let members) = try JSONValue(json: content) else {
            throw NostrError(.unexpectedType, "a profile is a JSON object")
        }
        self.members = members
    }

    /// Compact JSON.
    public var content: String { JSONValue.object(self.members).jsonText }

    public var name: String? {
        get { self.members["name"]?.string }
        set { self.set("name", newValue) }
    }

    /// A longer name, with any characters (NIP-24).
    public var displayName: String? {
        get { self.members["display_name"]?.string }
        set { self.set("display_name", newValue) }
    }

    public var about: String? {
        get { self.members["about"]?.string }
        set { self.set("about", newValue) }
    }

    /// An address, as it is: nothing says that it is one.
    public var picture: String? {
        get { self.members["picture"]?.string }
        set { self.set("picture", newValue) }
    }

    private mutating func set(_ name: String, _ value: String?) {
        self.members[name] = value.map { .string($0) }
    }
}
