package import Logging
package import Nostr

/// A remote signer of an account's key: the client side of NIP-46.
///
/// Requests are answered only while ``run()`` is running. A request is sent to the signer's relays repeatedly, always
/// under the same request id, until the answer arrives or the deadline passes; then the caller gets
/// `SignerError.Code.away`, and may retry. Messages from other senders, and answers without a matching request, are
/// ignored.
///
/// Before the first request the signer is asked for its account's key: a signer with an unexpected key is not
/// used (`SignerError.Code.wrongAccount`).
package actor BunkerSigner: RemoteSigner {
    /// Time limits, in milliseconds.
    package struct Timing: Sendable {
        /// The deadline of a request.
        package var answer: Int64 = 30_000
        /// The interval at which a request is repeated.
        package var repetition: Int64 = 5000
        /// The deadline of an approval, once the signer has asked for one.
        package var approval: Int64 = 300_000

        package init() {}
    }

    private enum Stage {
        case new
        case connecting([CheckedContinuation<Result<PublicKey, SignerError>, Never>])
        case connected(PublicKey)
    }

    /// A request in flight.
    private struct Question {
        let answers: AsyncStream<NIP46.Response.Outcome>.Continuation
        /// The deadline, in Unix milliseconds.
        var deadline: Int64
        /// A user is approving it, so it is not repeated.
        var isChallenged = false
    }

    private let url: BunkerURL
    private let clientKey: KeyPair
    private let isIntroduced: Bool
    private let transport: any RelayTransport
    private let clock: any CoreClock
    private let timing: Timing
    private let logger: Logger
    private var random: CoreRandom
    private var account: PublicKey?
    private var stage = Stage.new
    private var questions: [String: Question] = [:]
    private var connectedRelays: Set<RelayURL> = []
    package nonisolated let challenges: AsyncStream<String>
    private let challenge: AsyncStream<String>.Continuation

    private static let subscription = "signer"

    /// - Parameters:
    ///   - clientKey: identifies this client to the signer; a secret that the host keeps across runs.
    ///   - account: the account whose key the signer must hold, if this client was connected to it before; nil to ask
    ///     for it.
    ///   - isIntroduced: whether the signer has accepted this client already, by an invitation of the client.
    ///   - transport: used for the signer's relays only.
    ///   - randomness: for ids and nonces.
    package init(
        _ url: BunkerURL, clientKey: KeyPair, account: PublicKey? = nil, isIntroduced: Bool = false,
        transport: any RelayTransport, clock: any CoreClock, timing: Timing = Timing(),
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(), logger: Logger
    ) {
        self.url = url
        self.clientKey = clientKey
        self.account = account
        self.isIntroduced = isIntroduced
        self.transport = transport
        self.clock = clock
        self.timing = timing
        self.random = CoreRandom(randomness)
        self.logger = logger
        (self.challenges, self.challenge) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4))
    }

    /// Listens until the task is cancelled or the transport ends; then all requests in flight fail as away.
    package func run() async {
        await self.transport.setRelays(self.url.relays)
        let filter = Filter(
            authors: [self.url.remoteSigner], kinds: [.remoteSigning], tags: ["p": [self.clientKey.publicKey.hex]])
        await self.transport.subscribe(
            RelaySubscription(id: Self.subscription, filters: [filter], overlap: 60))
        for await update in self.transport.updates { self.receive(update) }
        for question in self.questions.values { question.answers.finish() }
        self.challenge.finish()
    }

    private func receive(_ update: RelayUpdate) {
        switch update {
        case .event(_, _, let event): self.receive(event)
        case .state(let relay, .connected): self.connectedRelays.insert(relay)
        case .state(let relay, _): self.connectedRelays.remove(relay)
        case .endOfStoredEvents, .closed, .refused, .clock: break
        }
    }

    private func receive(_ event: Event) {
        do {
            let message = try NIP46.message(in: event, from: self.url.remoteSigner, to: self.clientKey)
            let response = try NIP46.Response(json: message)
            self.questions[response.id]?.answers.yield(response.outcome)
        } catch {
            // Logs only the error's code: its message may contain secret bytes.
            self.logger.debug(
                "ignored an event that is not a valid answer of the signer", metadata: ["reason": "\(error.code)"])
        }
    }
}

// MARK: - Operations

extension BunkerSigner {
    /// Introduces this client to the signer and returns the signer's account; returns at once if it is already known.
    @discardableResult
    package func connect() async throws(SignerError) -> PublicKey {
        switch self.stage {
        case .connected(let account): return account
        case .connecting(var waiting):
            return try await withCheckedContinuation { continuation in
                waiting.append(continuation)
                self.stage = .connecting(waiting)
            }.get()
        case .new:
            self.stage = .connecting([])
            let result = await self.performHandshake()
            guard case .connecting(let waiting) = self.stage else { return try result.get() }
            if case .success(let account) = result {
                self.account = account
                self.stage = .connected(account)
            } else {
                self.stage = .new
            }
            for continuation in waiting { continuation.resume(returning: result) }
            return try result.get()
        }
    }

    /// Performs the handshake. A signer that knows this client is not sent the secret again, which may be valid only
    /// once.
    private func performHandshake() async -> Result<PublicKey, SignerError> {
        do throws(SignerError) {
            var failure: SignerError?
            if self.account == nil, !self.isIntroduced { failure = await self.introduce() }
            do throws(SignerError) { return .success(try await self.requestAccount()) } catch {
                guard error.code == .refused else { throw error }
                if let failure { throw failure }
            }
            if let failure = await self.introduce() { throw failure }
            return .success(try await self.requestAccount())
        } catch { return .failure(error) }
    }

    /// Sends the connect request; returns the error, which may only mean that the signer has seen the secret before.
    private func introduce() async -> SignerError? {
        do throws(SignerError) {
            _ = try await self.ask(
                .connect,
                [self.url.remoteSigner.hex, self.url.secret ?? "", Self.permissions.joined(separator: ",")])
            return nil
        } catch { return error }
    }

    private func requestAccount() async throws(SignerError) -> PublicKey {
        let text = try await self.ask(.getPublicKey, [])
        guard let key = try? PublicKey(parsing: text) else {
            throw SignerError(.wrongAnswer, "the signer's answer to get_public_key must be a public key")
        }
        if let account, key != account {
            throw SignerError(.wrongAccount, "the signer holds the key of \(key.npub), not of \(account.npub)")
        }
        return key
    }

    /// All operations that the core needs an account's key for.
    private static let permissions =
        [
            Kind.metadata, .seal, .deletion, .keyPackage, .addressableKeyPackage, .inboxRelays, .keyPackageRelays,
            .relayList, .accountProof, .applicationData, .clientAuthentication, .blossomAuthorization,
            Kind(rawValue: 3),
        ].map { "\(NIP46.Method.signEvent.rawValue):\($0.rawValue)" } + [
            NIP46.Method.nip44Encrypt.rawValue, NIP46.Method.nip44Decrypt.rawValue,
        ]

    /// Throws unless the signer answers.
    package func ping() async throws(SignerError) {
        guard try await self.ask(.ping, []) == "pong" else {
            throw SignerError(.wrongAnswer, "the signer's answer to ping is not pong")
        }
    }

    package func sign(_ event: UnsignedEvent) async throws(SignerError) -> Event {
        try await self.connect()
        let text = try await self.ask(.signEvent, [String(decoding: event.templateJSON(), as: UTF8.self)])
        do throws(NostrError) {
            let signed = try Event(json: Array(text.utf8))
            try event.requireSame(signed)
            return signed
        } catch { throw SignerError(.wrongAnswer, error.message) }
    }

    package func nip44Encrypt(_ plaintext: [UInt8], to peer: PublicKey) async throws(SignerError) -> String {
        try await self.connect()
        guard let text = String(validating: plaintext, as: UTF8.self) else {
            throw SignerError(.refused, "a signer encrypts only text: the content must be UTF-8")
        }
        return try await self.ask(.nip44Encrypt, [peer.hex, text])
    }

    package func nip44Decrypt(_ payload: String, from peer: PublicKey) async throws(SignerError) -> [UInt8] {
        try await self.connect()
        return Array(try await self.ask(.nip44Decrypt, [peer.hex, payload]).utf8)
    }
}

// MARK: - Requests

extension BunkerSigner {
    private func ask(_ method: NIP46.Method, _ params: [String]) async throws(SignerError) -> String {
        let id = Hex.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &self.random) })
        let message = NIP46.Request(id: id, method: method, params: params).json()
        guard message.count <= NIP44.maximumPlaintext else {
            throw SignerError(
                .tooLarge,
                "a request to the signer has \(message.count) bytes; at most \(NIP44.maximumPlaintext) can be sent")
        }
        let (answers, continuation) = AsyncStream.makeStream(of: NIP46.Response.Outcome.self)
        self.questions[id] = Question(
            answers: continuation, deadline: self.clock.nowMilliseconds + self.timing.answer)
        defer { self.questions[id] = nil }
        let result = await withTaskGroup(of: Result<String, SignerError>.self) { group in
            group.addTask { await self.answer(to: id, among: answers) }
            group.addTask { await self.repeatRequest(id, message) }
            defer { group.cancelAll() }
            return await group.next()
        }
        return try (result ?? .failure(self.timeoutError(after: self.timing.answer))).get()
    }

    private func answer(
        to id: String, among answers: AsyncStream<NIP46.Response.Outcome>
    ) async -> Result<String, SignerError> {
        for await outcome in answers {
            switch outcome {
            case .result(let text): return .success(text)
            case .error(let text): return .failure(SignerError(.refused, Self.printable(text)))
            case .challenge(let url): self.noteChallenge(url, of: id)
            }
        }
        return .failure(SignerError(.away, "the connection to the signer was closed"))
    }

    /// Sends a request repeatedly until its deadline; returns the failure to report then.
    private func repeatRequest(_ id: String, _ message: [UInt8]) async -> Result<String, SignerError> {
        while let question = self.questions[id], self.clock.nowMilliseconds < question.deadline, !Task.isCancelled {
            if !question.isChallenged {
                do { try await self.send(message) } catch {
                    return .failure(SignerError(.refused, "the request cannot be sent to the signer: \(error.message)"))
                }
            }
            let next = self.clock.nowMilliseconds + self.timing.repetition
            try? await self.clock.sleep(untilMilliseconds: min(next, self.questions[id]?.deadline ?? next))
        }
        return .failure(self.timeoutError(after: self.timing.answer))
    }

    private func send(_ message: [UInt8]) async throws(NostrError) {
        let event = try NIP46.event(
            message, from: self.clientKey, to: self.url.remoteSigner, now: self.clock.now, using: &self.random)
        // The relays' answers do not matter, only the signer's.
        _ = await self.transport.publish(event, to: self.url.relays)
    }

    /// Returns the error for a signer that did not answer within this number of milliseconds.
    func timeoutError(after time: Int64) -> SignerError {
        let relays = self.url.relays.map(\.string).joined(separator: ", ")
        return self.connectedRelays.isEmpty
            ? SignerError(.away, "none of the signer's relays can be reached (\(relays))")
            : SignerError(.away, "the signer did not answer within \(time / 1000) s on \(relays)")
    }

    private func noteChallenge(_ url: String, of id: String) {
        let lower = url.prefix(8).lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://"), url.utf8.count <= 2048,
            url.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            self.logger.warning("ignored an approval address of the signer that is not an http:// or https:// URL")
            return
        }
        self.questions[id]?.isChallenged = true
        self.questions[id]?.deadline = self.clock.nowMilliseconds + self.timing.approval
        self.challenge.yield(url)
    }

    /// Sanitizes a text of the signer for logs and display.
    private static func printable(_ text: String) -> String {
        let cleaned = DisplayText.reason(text, limit: 200)
        return cleaned.isEmpty ? "no reason given" : cleaned
    }
}
