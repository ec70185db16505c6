import Nostr
import Synchronization

/// What a relay sent, decoded, and with the event in it verified: nothing else gets past here.
final class MessageVerifier: Sendable {
    private struct Verified: Hashable {
        let id: EventID
        let signature: Signature
    }

    private let verified: Mutex<RecentSet<Verified>>

    /// - Parameter capacity: Verified signatures to remember, for the same event from several relays.
    init(capacity: Int) {
        verified = Mutex(RecentSet(capacity: capacity))
    }

    func read(_ json: [UInt8]) -> Result<RelayMessage, RefusedMessage> {
        do throws(NostrError) {
            let message = try RelayMessage(json: json)
            if case .event(_, let event) = message { try verify(event) }
            return .success(message)
        } catch {
            return .failure(RefusedMessage(reason: Refusal(error)))
        }
    }

    /// The id is computed each time. The same id under the same signature, once verified, needs no second time.
    func verify(_ event: Event) throws(NostrError) {
        let key = Verified(id: event.id, signature: event.signature)
        guard !verified.withLock({ $0.contains(key) }) else {
            guard event.unsigned.id == event.id else {
                throw NostrError(.idMismatch, "event \(event.id) has other content than its id")
            }
            return
        }
        try event.verify()
        _ = verified.withLock { $0.insert(key) }
    }
}

struct RefusedMessage: Error, Hashable {
    let reason: Refusal
}
