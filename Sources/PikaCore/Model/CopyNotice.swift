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

    /// Nil if it is none of this account.
    init?(_ event: Event, of account: KeyPair) {
        guard event.kind == .applicationData, event.pubkey == account.publicKey,
            event.firstTag("d")?.value == Self.identifier,
            let key = try? NIP44.conversationKey(account, account.publicKey),
            let content = try? NIP44.decrypt(event.content, key), let json = try? JSONValue(json: content),
            json["v"]?.integer == 1, let instance = json["instance"]?.string.flatMap({ Hex.decode($0) }),
            let generation = json["generation"]?.integer, let startedAt = json["started_at"]?.integer
        else { return nil }
        self.instance = instance
        self.generation = generation
        self.startedAt = startedAt
    }

    func event(
        by account: KeyPair, createdAt: Int64, using random: inout some RandomNumberGenerator
    ) throws(NostrError) -> Event {
        let json: JSONValue = [
            "v": 1, "instance": .string(Hex.encode(self.instance)), "generation": .integer(self.generation),
            "started_at": .integer(self.startedAt),
        ]
        let content = try NIP44.encrypt(
            json.json(), NIP44.conversationKey(account, account.publicKey),
            nonce: Secret.random(count: 32, using: &random).copyBytes())
        return UnsignedEvent(
            pubkey: account.publicKey, createdAt: createdAt, kind: .applicationData,
            tags: [Tag("d", Self.identifier)], content: content
        ).signed(by: account, using: &random)
    }
}

/// What this copy knows of others.
struct CopyFence: Sendable {
    /// Unix milliseconds; nil while the account does not look for other copies.
    var startedAt: Int64?
    /// Relays that were told of this copy, after they were asked for others.
    var told: Set<RelayURL> = []
    /// Unix seconds of the newest notice.
    var newest: Int64 = 0

    /// Whether events of groups must wait, since no relay was asked for other copies yet.
    var isClosed: Bool { self.startedAt != nil && self.told.isEmpty }
}
