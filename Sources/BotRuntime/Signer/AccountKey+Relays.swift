import Nostr
import PikaCore
import RelayClient

extension AccountKey {
    /// Answers relays that want to know whose connection it is (NIP-42); a remote signer that does not answer leaves
    /// them without.
    func relaySigner(_ clock: SystemClock) -> RelayPool.Signer {
        { challenge, relay in
            try? await self.signed(
                NIP42.draft(challenge: challenge, relay: relay, by: self.publicKey, now: clock.now))
        }
    }

    /// Throws what a remote signer does.
    func signed(_ draft: UnsignedEvent) async throws -> Event {
        switch self {
        case .local(let keys):
            var generator = SystemRandomNumberGenerator()
            return draft.signed(by: keys, using: &generator)
        case .remote(_, let signer): return try await signer.sign(draft)
        }
    }
}
