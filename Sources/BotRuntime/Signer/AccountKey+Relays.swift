package import Nostr
package import PikaCore
package import RelayClient

extension AccountKey {
    /// Returns the signer for relay authentication (NIP-42); the connection stays unauthenticated if a remote signer
    /// does not answer.
    package func relaySigner(_ clock: SystemClock) -> RelayPool.Signer {
        { challenge, relay in
            try? await self.signed(
                NIP42.draft(challenge: challenge, relay: relay, by: self.publicKey, now: clock.now))
        }
    }

    /// Signs an event; throws the errors of a remote signer.
    package func signed(_ draft: UnsignedEvent) async throws -> Event {
        switch self {
        case .local(let keys):
            var generator = SystemRandomNumberGenerator()
            return draft.signed(by: keys, using: &generator)
        case .remote(_, let signer): return try await signer.sign(draft)
        }
    }
}
