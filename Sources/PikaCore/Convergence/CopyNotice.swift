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

    static let malformed = NostrError(.malformedJSON, "not a notice of a copy of this account")

    /// Whether an event claims to be a notice of this account.
    static func isNotice(_ event: Event, of account: PublicKey) -> Bool {
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
    static func draft(_ content: String, by account: PublicKey, createdAt: UnixTime) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: account, createdAt: createdAt, kind: .applicationData, tags: [Tag("d", Self.identifier)],
            content: content)
    }
}
