import LiveTesting
import Nostr

@testable import PikaCore

extension CopyNotice {
    /// The notice of an account's copy, as an event.
    func event(
        by account: KeyPair, createdAt: UnixTime, using random: inout some RandomNumberGenerator
    ) throws -> Event {
        var source = CoreRandom(SplitMix64(seed: random.next()))
        let answer = try KeyOperation.encrypt(self.content, to: account.publicKey).perform(with: account, &source)
        guard case .encrypted(let content) = answer else { throw CopyNotice.malformed }
        return Self.draft(content, by: account.publicKey, createdAt: createdAt).signed(by: account, using: &source)
    }
}
