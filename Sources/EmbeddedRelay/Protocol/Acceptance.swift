import Nostr

/// Decides whether the relay accepts an event; the store itself checks duplicates and deletions.
struct Acceptance: Sendable {
    enum Verdict: Hashable, Sendable {
        case store
        /// Ephemeral (NIP-01): delivered to subscribers, never stored.
        case broadcast
        case refuse(RefusalText)
    }

    let limits: RelayLimits
    let requireAuthentication: Bool

    /// - Parameter authenticated: the keys this connection has proved by NIP-42.
    func verdict(on event: Event, authenticated: Set<PublicKey>, now: UnixTime) -> Verdict {
        do {
            try event.verify()
        } catch {
            return .refuse(RefusalText(.invalid, error.message))
        }
        if let refusal = malformation(of: event, now: now) ?? authorization(of: event, authenticated) {
            return .refuse(refusal)
        }
        return event.kind.isEphemeral ? .broadcast : .store
    }

    private func malformation(of event: Event, now: UnixTime) -> RefusalText? {
        if event.kind == .clientAuthentication {
            return RefusalText(.invalid, "kind 22242 is allowed only in AUTH messages")
        }
        if event.tags.count > limits.tagsPerEvent {
            return RefusalText(.invalid, "more than \(limits.tagsPerEvent) tags")
        }
        if let ahead = limits.secondsIntoFuture {
            if event.createdAt.seconds(since: now) > ahead {
                return RefusalText(.invalid, "created_at is more than \(ahead) seconds ahead")
            }
        }
        if event.isExpired(at: now) {
            return RefusalText(.invalid, "the event has expired")
        }
        return nil
    }

    private func authorization(of event: Event, _ authenticated: Set<PublicKey>) -> RefusalText? {
        if requireAuthentication, authenticated.isEmpty {
            return RefusalText(.authenticationRequired, "log in before publishing")
        }
        guard event.isProtected, !authenticated.contains(event.pubkey) else { return nil }
        return authenticated.isEmpty
            ? RefusalText(.authenticationRequired, "only its author may publish a protected event")
            : RefusalText(.restricted, "only its author may publish a protected event")
    }
}
