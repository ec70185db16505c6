package import Logging
package import Nostr
package import PikaCore

/// What an account's remote signer says when somebody looks whether all is well.
package enum SignerAnswer: Sendable, Equatable {
    /// It knows the account's client, and signs with this key.
    case holds(PublicKey)
    /// The account was never made known to it; it answers a stranger, with whatever words.
    case answersStrangers
    /// Somebody has to agree at this address.
    case wantsApproval(String)
    case failed(SignerError)
}

/// Asks a remote signer as an account's worker would. Nobody is made known to it who was not: the address's secret may be
/// good for once.
package struct SignerProbe: Sendable {
    /// Whose key it must hold, by what was kept of the first conversation; nil if there was none.
    package let account: PublicKey?
    private let url: BunkerURL
    private let identity: BunkerIdentity

    /// - Parameter directory: the state of the account, which is only read.
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

    /// - Parameter limit: How long it may take for each answer.
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
            // Even a no comes from somebody who is there.
            return self.account == nil && error.code != .away ? .answersStrangers : .failed(error)
        }
    }
}
