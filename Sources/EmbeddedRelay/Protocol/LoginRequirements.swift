import Nostr

/// Requirements of a NIP-42 login on one connection.
struct LoginRequirements: Hashable, Sendable {
    let challenge: String
    /// The relay's address; nil when the client's request did not name it.
    let address: RelayURL?

    /// Returns nil when the event proves its author's key.
    func refusal(of event: Event, now: UnixTime) -> RefusalText? {
        guard let address else { return RefusalText(.restricted, "this relay has no public URL for a login") }
        do {
            try NIP42.verify(event, challenge: challenge, relay: address, now: now)
            return nil
        } catch {
            return RefusalText(.restricted, error.message)
        }
    }
}
