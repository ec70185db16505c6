/// NIP-19: keys, ids and references as Bech32 text, for display and input; never used inside events.
public enum NIP19 {
    enum Prefix {
        static let publicKey = "npub"
        static let secretKey = "nsec"
        static let encryptedKey = "ncryptsec"
        static let note = "note"
        static let profile = "nprofile"
        static let event = "nevent"
        static let address = "naddr"
    }

    /// `nprofile1…`: a user and relays with their events.
    public struct Profile: Hashable, Sendable {
        /// The user's key.
        public var publicKey: PublicKey
        /// Relays with the user's events, not validated.
        public var relays: [String]

        /// Creates a reference to a user.
        public init(publicKey: PublicKey, relays: [String] = []) {
            self.publicKey = publicKey
            self.relays = relays
        }
    }

    /// `nevent1…`: an event and relays that have it.
    public struct EventPointer: Hashable, Sendable {
        /// The event's id.
        public var id: EventID
        /// Relays that have the event, not validated.
        public var relays: [String]
        /// The event's author, if stated.
        public var author: PublicKey?
        /// The event's kind, if stated.
        public var kind: Kind?

        /// Creates a reference to an event.
        public init(id: EventID, relays: [String] = [], author: PublicKey? = nil, kind: Kind? = nil) {
            self.id = id
            self.relays = relays
            self.author = author
            self.kind = kind
        }
    }

    /// `naddr1…`: a replaceable or addressable event and relays that have it.
    public struct AddressPointer: Hashable, Sendable {
        /// Kind, author and identifier of the event.
        public var address: EventAddress
        /// Relays that have the event, not validated.
        public var relays: [String]

        /// Creates a reference to a replaceable or addressable event.
        public init(address: EventAddress, relays: [String] = []) {
            self.address = address
            self.relays = relays
        }
    }

    /// Any public entity. Secret keys are excluded and have their own functions.
    public enum Entity: Hashable, Sendable {
        /// `npub1…`: a public key, not checked to be on the curve.
        case publicKey(PublicKey)
        /// `note1…`: an event id.
        case note(EventID)
        /// `nprofile1…`: a user with relays.
        case profile(Profile)
        /// `nevent1…`: an event with relays.
        case event(EventPointer)
        /// `naddr1…`: a replaceable or addressable event with relays.
        case address(AddressPointer)
    }
}

extension NIP19 {
    /// Encodes a public key as `npub1…`.
    public static func encode(_ key: PublicKey) -> String { Bech32.encode(prefix: Prefix.publicKey, key.bytes) }

    /// Encodes an event id as `note1…`.
    public static func encode(_ id: EventID) -> String { Bech32.encode(prefix: Prefix.note, id.bytes) }

    static func encode(secretKeyOf key: KeyPair) -> String {
        var secret = key.secretBytes
        defer { Sodium.wipe(&secret) }
        return Bech32.encode(prefix: Prefix.secretKey, secret)
    }

    /// Decodes a public key; throws `NostrError.Code.invalidBech32`, or `NostrError.Code.unexpectedPrefix` for
    /// other entities.
    public static func decodePublicKey(_ text: String) throws(NostrError) -> PublicKey {
        PublicKey(value: try bytes32(text, prefix: Prefix.publicKey))
    }

    /// Decodes an event id; throws `NostrError.Code.invalidBech32`, or `NostrError.Code.unexpectedPrefix` for other
    /// entities.
    public static func decodeNote(_ text: String) throws(NostrError) -> EventID {
        EventID(value: try bytes32(text, prefix: Prefix.note))
    }

    /// Returns the 32 secret bytes of `nsec1…`, which the caller must wipe. Prefer ``KeyPair/init(parsing:)``.
    static func decodeSecretKey(_ text: String) throws(NostrError) -> [UInt8] {
        let (prefix, bytes) = try Bech32.decode(text)
        guard prefix == Prefix.secretKey else {
            throw NostrError(.unexpectedPrefix, "expected \(Prefix.secretKey), found another entity")
        }
        return bytes
    }

    private static func bytes32(_ text: String, prefix wanted: String) throws(NostrError) -> Bytes32 {
        let (prefix, bytes) = try Bech32.decode(text)
        guard prefix == wanted else {
            throw NostrError(.unexpectedPrefix, "expected \(wanted), found \(prefix.prefix(16))")
        }
        return try value(of: bytes)
    }

    static func value(of bytes: [UInt8]) throws(NostrError) -> Bytes32 {
        guard let value = Bytes32(bytes) else { throw NostrError(.invalidBech32, "the content must be 32 bytes") }
        return value
    }
}
