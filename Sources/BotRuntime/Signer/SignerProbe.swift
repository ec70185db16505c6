import Errors
package import Logging
package import Nostr
package import PikaCore

/// The result of checking an account's remote signer.
package enum SignerAnswer: Sendable, Equatable {
    /// The signer knows the account's client, and holds this key.
    case holds(PublicKey)
    /// The client was never introduced to the signer, which responds nevertheless, if only with a refusal.
    case answersStrangers
    /// A person must approve the client at this address.
    case wantsApproval(String)
    case failed(SignerError)
}

/// Checks a remote signer as an account's worker would, but never introduces a client: the URL's secret may be valid
/// only once.
package struct SignerProbe: Sendable {
    /// The account whose key it must hold, according to the stored identity; nil if absent.
    package let account: PublicKey?
    private let url: BunkerURL
    private let identity: BunkerIdentity

    /// - Parameter directory: the state directory of the account, which is only read.
    package init(_ url: BunkerURL, directory: String) throws(WorkerError) {
        self.url = url
        let known = try BunkerIdentity.load("\(directory)/\(BunkerIdentity.fileName)")
        if let known, known.remoteSigner == url.remoteSigner, known.account != nil {
            self.identity = known
        } else {
            var generator = SystemRandomNumberGenerator()
            self.identity = BunkerIdentity(
                clientKey: KeyPair.generate(using: &generator), remoteSigner: url.remoteSigner)
        }
        self.account = self.identity.account
    }

    /// - Parameter limit: The deadline of each answer.
    package func run(limit: Duration, logger: Logger) async throws -> SignerAnswer {
        var timing = BunkerSigner.Timing()
        timing.answer = Int64(limit / .milliseconds(1))
        timing.approval = timing.answer
        timing.repetition = max(timing.answer / 4, 100)
        let bunker = try BunkerConnection(
            self.url, self.identity, clock: SystemClock(), timing: timing, logger: logger)
        return try await withThrowingTaskGroup(of: SignerAnswer?.self) { group in
            group.addTask {
                try await bunker.run()
                return nil
            }
            group.addTask {
                for await address in bunker.signer.challenges { return .wantsApproval(address) }
                return nil
            }
            group.addTask { await self.answer(of: bunker.signer) }
            while let answer = try await group.next() {
                guard let answer else { continue }
                await bunker.shutdown()
                group.cancelAll()
                return answer
            }
            throw CancellationError()
        }
    }

    private func answer(of signer: BunkerSigner) async -> SignerAnswer {
        do throws(SignerError) {
            if self.account != nil { return .holds(try await signer.connect()) }
            try await signer.ping()
            return .answersStrangers
        } catch {
            // Even a refusal shows that the signer is there.
            return self.account == nil && error.code != .away ? .answersStrangers : .failed(error)
        }
    }
}
