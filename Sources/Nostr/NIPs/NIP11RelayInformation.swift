/// NIP-11: a relay's description of itself, served over HTTP as `application/nostr+json`.
public struct RelayInformation: Hashable, Sendable {
    /// The relay's name.
    public var name: String?
    /// Free text about the relay.
    public var description: String?
    /// Address of the relay's icon, not validated.
    public var icon: String?
    /// The administrator's key.
    public var pubkey: PublicKey?
    /// The relay's own key.
    public var relayKey: PublicKey?
    /// Address of the administrator for people, such as a `mailto:` URI; not validated.
    public var contact: String?
    /// The numbers of the supported NIPs; empty if not stated. Identifiers with letters are ignored.
    public var supportedNIPs: [Int]
    /// The relay's software, usually the address of its project; not validated.
    public var software: String?
    /// The version of ``software``.
    public var version: String?
    /// The relay's limits; nil if not stated.
    public var limitation: Limitation?

    /// Creates a document with the given members.
    public init(
        name: String? = nil, description: String? = nil, icon: String? = nil, pubkey: PublicKey? = nil,
        relayKey: PublicKey? = nil, contact: String? = nil, supportedNIPs: [Int] = [], software: String? = nil,
        version: String? = nil, limitation: Limitation? = nil
    ) {
        self.name = name
        self.description = description
        self.icon = icon
        self.pubkey = pubkey
        self.relayKey = relayKey
        self.contact = contact
        self.supportedNIPs = supportedNIPs
        self.software = software
        self.version = version
        self.limitation = limitation
    }

    /// Limits that a relay imposes on its clients.
    public struct Limitation: Hashable, Sendable {
        /// Maximum size of a message in bytes.
        public var maxMessageLength: Int?
        /// Maximum number of subscriptions on one connection.
        public var maxSubscriptions: Int?
        /// Maximum ``Filter/limit``; the relay lowers larger ones to it.
        public var maxLimit: Int?
        /// Maximum length of a subscription id in characters.
        public var maxSubscriptionIDLength: Int?
        /// Maximum number of an event's tags.
        public var maxEventTags: Int?
        /// Maximum length of an event's content in characters.
        public var maxContentLength: Int?
        /// Minimum proof of work of an event in leading zero bits (NIP-13).
        public var minProofOfWork: Int?
        /// Whether clients must authenticate first (NIP-42).
        public var authenticationRequired: Bool?
        /// Whether clients must pay first.
        public var paymentRequired: Bool?
        /// Whether the relay accepts events only under a condition of its own.
        public var restrictedWrites: Bool?
        /// Maximum age of a new event in seconds, by its `created_at`.
        public var createdAtLowerLimit: Int?
        /// Maximum number of seconds by which a new event's `created_at` may be in the future.
        public var createdAtUpperLimit: Int?
        /// Maximum number of stored events for a filter without ``Filter/limit``.
        public var defaultLimit: Int?

        /// Creates limits without values.
        public init() {}
    }
}

extension RelayInformation {
    /// Parses the document; throws for malformed JSON and for values other than an object. Ignores unknown members and
    /// those of the wrong type, because many relays are careless and nothing depends on them.
    public init(json: some Collection<UInt8>) throws(NostrError) {
        guard let object = try JSONValue(json: json).object else {
            throw NostrError(.unexpectedType, "relay information must be a JSON object")
        }
        self.init(
            name: object["name"]?.string, description: object["description"]?.string, icon: object["icon"]?.string,
            pubkey: RelayInformation.key(object["pubkey"]), relayKey: RelayInformation.key(object["self"]),
            contact: object["contact"]?.string,
            supportedNIPs: object["supported_nips"]?.array?.compactMap { $0.integer.flatMap(Int.init(exactly:)) } ?? [],
            software: object["software"]?.string, version: object["version"]?.string,
            limitation: object["limitation"]?.object.map(Limitation.init))
    }

    private static func key(_ value: JSONValue?) -> PublicKey? {
        value?.string.flatMap(Bytes32.init(hex:)).map(PublicKey.init(value:))
    }

    /// Returns compact JSON; members without a value are left out, except `supported_nips`.
    public func json() -> [UInt8] {
        var object = JSONObject()
        object["name"] = name.map(JSONValue.string)
        object["description"] = description.map(JSONValue.string)
        object["icon"] = icon.map(JSONValue.string)
        object["pubkey"] = (pubkey?.hex).map(JSONValue.string)
        object["self"] = (relayKey?.hex).map(JSONValue.string)
        object["contact"] = contact.map(JSONValue.string)
        object["supported_nips"] = .array(supportedNIPs.map { .integer(Int64($0)) })
        object["software"] = software.map(JSONValue.string)
        object["version"] = version.map(JSONValue.string)
        object["limitation"] = (limitation?.object).map(JSONValue.object)
        return JSONValue.object(object).json()
    }
}

extension RelayInformation.Limitation {
    // Computed rather than stored, because key paths are not Sendable.
    private static var numbers: [(String, WritableKeyPath<Self, Int?>)] {
        [
            ("max_message_length", \.maxMessageLength), ("max_subscriptions", \.maxSubscriptions),
            ("max_limit", \.maxLimit), ("max_subid_length", \.maxSubscriptionIDLength),
            ("max_event_tags", \.maxEventTags), ("max_content_length", \.maxContentLength),
            ("min_pow_difficulty", \.minProofOfWork), ("created_at_lower_limit", \.createdAtLowerLimit),
            ("created_at_upper_limit", \.createdAtUpperLimit), ("default_limit", \.defaultLimit),
        ]
    }

    private static var flags: [(String, WritableKeyPath<Self, Bool?>)] {
        [
            ("auth_required", \.authenticationRequired), ("payment_required", \.paymentRequired),
            ("restricted_writes", \.restrictedWrites),
        ]
    }

    fileprivate init(_ object: JSONObject) {
        self.init()
        for (name, path) in Self.numbers { self[keyPath: path] = object[name]?.integer.flatMap(Int.init(exactly:)) }
        for (name, path) in Self.flags { self[keyPath: path] = object[name]?.bool }
    }

    fileprivate var object: JSONObject {
        var object = JSONObject()
        for (name, path) in Self.numbers { object[name] = self[keyPath: path].map { .integer(Int64($0)) } }
        for (name, path) in Self.flags { object[name] = self[keyPath: path].map(JSONValue.bool) }
        return object
    }
}
