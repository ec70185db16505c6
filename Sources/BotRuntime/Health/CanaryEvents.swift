import Foundation
import Nostr
import PikaCore

/// The events of one relay's canary: signed by a key of their own, which nothing links to the account or its groups.
///
/// Group events are signed by throwaway keys too: a relay that takes only those of the key that is logged in there
/// cannot carry groups, and its canary fails rightly.
struct CanaryEvents: Sendable {
    /// 445, the kind of group events, in the range of ephemeral ones.
    static let ephemeralKind: Kind = 20_445
    /// Seconds that a relay may keep a stored canary after its budget.
    private static let grace: Int64 = 60

    private let key: KeyPair
    /// As a group's id looks; no group has it.
    private let hTag: String
    private let lifetime: Int64
    private var count = 0

    init(budget: Duration, using generator: inout some RandomNumberGenerator) {
        key = KeyPair.generate(using: &generator)
        hTag = Hex.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        lifetime = Int64(clamping: budget.components.seconds) + 1 + Self.grace
    }

    /// What brings both forms back, and nothing else.
    func subscription(_ id: String, at relay: RelayURL) -> RelaySubscription {
        RelaySubscription(
            id: id,
            filters: [
                Filter(authors: [key.publicKey], kinds: [Self.ephemeralKind]),
                Filter(kinds: [.groupEvent], tags: ["h": [hTag]]),
            ], relays: [relay], overlap: 0)
    }

    /// - Parameter now: Unix seconds.
    mutating func make(_ form: Canary.Form, now: Int64, using generator: inout some RandomNumberGenerator) -> Event {
        count += 1
        let draft: UnsignedEvent
        switch form {
        case .ephemeral:
            draft = UnsignedEvent(
                pubkey: key.publicKey, createdAt: now, kind: Self.ephemeralKind, content: String(count))
        case .stored:
            // As group messages look.
            let bytes = (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            draft = UnsignedEvent(
                pubkey: key.publicKey, createdAt: now, kind: .groupEvent,
                tags: [Tag("h", hTag), Tag("expiration", String(now + lifetime))],
                content: Data(bytes).base64EncodedString())
        }
        return draft.signed(by: key, using: &generator)
    }
}
