import Nostr
import PikaCore

/// Decodes relay messages and verifies the events in them. All incoming messages pass through it.
final class MessageVerifier: Sendable {
    private let verified: VerifiedSignatures
    private let crashes: CrashLedger

    /// - Parameter crashes: Journal that records each message before it is decoded, in case the process crashes on it.
    init(_ verified: VerifiedSignatures, crashes: CrashLedger = .off) {
        self.verified = verified
        self.crashes = crashes
    }

    // Not inlined into the reading task, where its temporaries would take memory for as long as the connection lasts.
    @inline(never)
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
            if case .event(_, let event) = message { try verified.verify(event) }
            return .success(message)
        } catch {
            return .failure(RefusedMessage(reason: RefusalReason(error)))
        }
    }

    /// Counts an event of this process as verified, so that its echo is not verified.
    func trust(_ event: Event) { verified.trust(event) }
}

struct RefusedMessage: Error, Hashable {
    let reason: RefusalReason
}
