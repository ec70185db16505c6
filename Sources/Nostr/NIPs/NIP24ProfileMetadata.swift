/// A user's profile: the content of kind 0 (NIP-01, NIP-24).
///
/// Writing a profile back preserves members without a property here and those of the wrong type. Numbers among them
/// keep their value but not their notation.
public struct ProfileMetadata: Hashable, Sendable {
    /// Maximum size of the content in bytes; relays commonly accept events of at most this size.
    public static let maximumBytes = 65_536

    /// All members in their original order.
    public private(set) var members: JSONObject

    /// Creates a profile without members.
    public init() { self.members = JSONObject() }

    /// Parses the content of an event.
    ///
    /// - Throws: `NostrError.Code.invalidPayloadSize` if it is too long; `NostrError.Code.unexpectedType` unless
    ///   the JSON is an object; errors of ``JSONValue/init(json:)-(Collection<UInt8>)``.
    public init(content: String) throws(NostrError) {
        guard content.utf8.count <= Self.maximumBytes else {
            throw NostrError(.invalidPayloadSize, "a profile must have at most \(Self.maximumBytes) bytes")
        }
        guard case .object(let members) = try JSONValue(json: content) else {
            throw NostrError(.unexpectedType, "a profile must be a JSON object")
        }
        self.members = members
    }

    /// The profile as compact JSON.
    public var content: String { JSONValue.object(self.members).jsonText }

    /// The user's name; nil if it is missing or not a string.
    public var name: String? {
        get { self.members["name"]?.string }
        set { self.set("name", newValue) }
    }

    /// Longer name with any characters (NIP-24).
    public var displayName: String? {
        get { self.members["display_name"]?.string }
        set { self.set("display_name", newValue) }
    }

    /// The user's description; nil if it is missing or not a string.
    public var about: String? {
        get { self.members["about"]?.string }
        set { self.set("about", newValue) }
    }

    /// Address of the picture, not validated.
    public var picture: String? {
        get { self.members["picture"]?.string }
        set { self.set("picture", newValue) }
    }

    private mutating func set(_ name: String, _ value: String?) {
        self.members[name] = value.map { .string($0) }
    }
}
