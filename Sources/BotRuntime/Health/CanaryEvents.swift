import Foundation
import Nostr
import PikaCore

/// The events of one relay's canary, signed by their own key, which cannot be linked to the account or its groups.
///
/// Group events are signed by throwaway keys too: a relay that accepts only events by the authenticated key cannot
/// serve groups, so its canary rightly fails.
struct CanaryEvents: Sendable {
    /// Kind 445, that of group events, moved into the ephemeral range.
    static let ephemeralKind: Kind = 20_445
    /// Seconds that a relay may keep a stored canary after its budget.
    private static let grace: Int64 = 60

    private let key: KeyPair
    /// Looks like a group's id, but belongs to no group.
    private let hTag: String
    private let lifetime: Int64
    private var count = 0

    init(budget: Duration, using generator: inout some RandomNumberGenerator) {
        key = KeyPair.generate(using: &generator)
        hTag = Hex.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        lifetime = Int64(clamping: budget.components.seconds) + 1 + Self.grace
    }

    /// Returns a subscription to both forms of the canary.
    func subscription(_ id: String, at relay: RelayURL) -> RelaySubscription {
        RelaySubscription(
            id: id,
            filters: [
                Filter(authors: [key.publicKey], kinds: [Self.ephemeralKind]),
                Filter(kinds: [.groupEvent], tags: ["h": [hTag]]),
            ], relays: [relay], overlap: 0)
    }

    mutating func make(_ form: Canary.Form, now: UnixTime, using generator: inout some RandomNumberGenerator) -> Event {
        count += 1
        let draft: UnsignedEvent
        switch form {
        case .ephemeral:
            draft = UnsignedEvent(
                pubkey: key.publicKey, createdAt: now, kind: Self.ephemeralKind, content: String(count))
        case .stored:
            // Looks like a group message.
            let bytes = (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            draft = UnsignedEvent(
                pubkey: key.publicKey, createdAt: now, kind: .groupEvent,
                tags: [Tag("h", hTag), .expiration(at: now + lifetime)],
                content: Data(bytes).base64EncodedString())
        }
        return draft.signed(by: key, using: &generator)
    }
}
