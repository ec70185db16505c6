import Nostr
import PikaCore
import Synchronization

/// Decodes relay messages and verifies the events in them. All incoming messages pass through it.
final class MessageVerifier: Sendable {
    private struct Verified: Hashable {
        let id: EventID
        let signature: Signature
    }

    private let verified: Mutex<RecentSet<Verified>>
    private let crashes: CrashLedger

    /// - Parameters:
    ///   - capacity: Verified signatures to remember, because several relays send the same event.
    ///   - crashes: Journal that records each message before it is decoded, in case the process crashes on it.
    init(capacity: Int, crashes: CrashLedger = .off) {
        verified = Mutex(RecentSet(capacity: capacity))
        self.crashes = crashes
    }

    func read(_ json: [UInt8], from relay: RelayURL) -> Result<RelayMessage, RefusedMessage> {
        guard let decoding = crashes.begin(frame: json, from: relay) else {
            return .failure(RefusedMessage(reason: .quarantined))
        }
        defer { crashes.end(decoding) }
        return read(json)
    }

    private func read(_ json: [UInt8]) -> Result<RelayMessage, RefusedMessage> {
        do throws(NostrError) {
            let message = try RelayMessage(json: json)
            if case .event(_, let event) = message { try verify(event) }
            return .success(message)
        } catch {
            return .failure(RefusedMessage(reason: RefusalReason(error)))
        }
    }

    /// Verifies an event. The id is always recomputed; a signature that was verified for the same id is not verified
    /// again.
    func verify(_ event: Event) throws(NostrError) {
        let key = Verified(id: event.id, signature: event.signature)
        guard !verified.withLock({ $0.contains(key) }) else {
            guard event.unsigned.id == event.id else {
                throw NostrError(.idMismatch, "event \(event.id): the id is not the hash of its content")
            }
            return
        }
        try event.verify()
        _ = verified.withLock { $0.insert(key) }
    }
}

struct RefusedMessage: Error, Hashable {
    let reason: RefusalReason
}
