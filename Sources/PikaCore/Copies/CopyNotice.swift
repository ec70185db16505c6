import MLS
import Nostr

/// A notice from one copy of an account to the others: an addressable event (kind 30078, `d` = "pikabot-instance")
/// whose content only the account itself can read (NIP-44 to its own key; JSON, version 1).
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

    /// Whether an event claims to be a notice of this account.
    static func isOne(_ event: Event, of account: PublicKey) -> Bool {
        event.kind == .applicationData && event.pubkey == account
            && event.firstTag("d")?.value == Self.identifier
    }

    /// Parses the decrypted content; nil if it is not a notice.
    init?(content: [UInt8]) {
        guard let json = try? JSONValue(json: content), json["v"]?.integer == 1,
            let instance = json["instance"]?.string.flatMap({ Hex.decode($0) }),
            let generation = json["generation"]?.integer, let startedAt = json["started_at"]?.integer
        else { return nil }
        self.instance = instance
        self.generation = generation
        self.startedAt = startedAt
    }

    /// The plaintext to encrypt.
    var content: [UInt8] {
        let json: JSONValue = [
            "v": 1, "instance": .string(Hex.encode(self.instance)), "generation": .integer(self.generation),
            "started_at": .integer(self.startedAt),
        ]
        return json.json()
    }

    /// Returns the event that carries the encrypted content.
    static func draft(_ content: String, by account: PublicKey, createdAt: Int64) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: account, createdAt: createdAt, kind: .applicationData, tags: [Tag("d", Self.identifier)],
            content: content)
    }
}

/// This copy's knowledge of other copies of the account.
struct CopyFence: Sendable {
    /// Unix milliseconds when this copy started to look for others; nil while it does not look.
    var startedAt: Int64?
    /// Relays to which this copy's notice was sent, after they were queried for others.
    var told: Set<RelayURL> = []
    /// Notices of each relay that are not decrypted yet: a remote signer may have the key.
    var unread: [RelayURL: Set<EventID>] = [:]
    /// Recent notices of this copy itself.
    var own: Set<EventID> = []
    /// Unix seconds of the newest notice.
    var newest: Int64 = 0

    /// Whether events of groups must wait, since no relay has been queried for other copies yet.
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
