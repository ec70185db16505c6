import MLS
import Nostr

/// What a copy of an account tells the others: an addressable event (kind 30078, `d` = "pikabot-instance") whose
/// content only the account itself reads (NIP-44 to its own key; JSON, version 1).
struct CopyNotice: Sendable, Hashable {
    static let identifier = "pikabot-instance"

    let instance: [UInt8]
    let generation: Int64
    /// Unix milliseconds of the start of its process.
    let startedAt: Int64

    init(_ instance: StoredInstance, startedAt: Int64) {
        self.instance = instance.id
        self.generation = instance.generation
        self.startedAt = startedAt
    }

    static let malformed = NostrError(.malformedJSON, "no notice of a copy of this account")

    /// Whether an event claims to be one of this account.
    static func isOne(_ event: Event, of account: PublicKey) -> Bool {
        event.kind == .applicationData && event.pubkey == account
            && event.firstTag("d")?.value == Self.identifier
    }

    /// Reads the decrypted content; nil if it is none.
    init?(content: [UInt8]) {
        guard let json = try? JSONValue(json: content), json["v"]?.integer == 1,
            let instance = json["instance"]?.string.flatMap({ Hex.decode($0) }),
            let generation = json["generation"]?.integer, let startedAt = json["started_at"]?.integer
        else { return nil }
        self.instance = instance
        self.generation = generation
        self.startedAt = startedAt
    }

    /// What is encrypted.
    var content: [UInt8] {
        let json: JSONValue = [
            "v": 1, "instance": .string(Hex.encode(self.instance)), "generation": .integer(self.generation),
            "started_at": .integer(self.startedAt),
        ]
        return json.json()
    }

    /// The event, with the encrypted content.
    static func draft(_ content: String, by account: PublicKey, createdAt: Int64) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: account, createdAt: createdAt, kind: .applicationData, tags: [Tag("d", Self.identifier)],
            content: content)
    }
}

/// What this copy knows of others.
struct CopyFence: Sendable {
    /// Unix milliseconds; nil while the account does not look for other copies.
    var startedAt: Int64?
    /// Relays that were told of this copy, after they were asked for others.
    var told: Set<RelayURL> = []
    /// Notices of relays that were not read yet: their key may be elsewhere.
    var unread: [RelayURL: Set<EventID>] = [:]
    /// What this copy has said itself, as far as it needs to remember.
    var own: Set<EventID> = []
    /// Unix seconds of the newest notice.
    var newest: Int64 = 0

    /// Whether events of groups must wait, since no relay was asked for other copies yet.
    var isClosed: Bool { self.startedAt != nil && self.told.isEmpty }

    // MARK: - Stored form: JSON, version 1

    static func memo(_ ids: some Sequence<EventID>) -> Secret {
        Secret((["v": 1, "ids": .array(ids.map { .string($0.hex) })] as JSONValue).json())
    }

    static func ids(memo: Secret) -> Set<EventID>? {
        guard let json = JSONValue(memo: memo),
            let list = json["ids"]?.array
        else { return nil }
        let ids = list.compactMap { $0.string.flatMap { try? EventID(hex: $0) } }
        return ids.count == list.count ? Set(ids) : nil
    }
}
