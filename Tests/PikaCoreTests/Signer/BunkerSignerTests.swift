import LiveTesting
import Logging
import Nostr
import PikaCore
import Synchronization
import Testing

/// The client of a remote signer, against a scripted one.
@Suite(.bounded) struct BunkerSignerTests {
    /// Holds the bunker for scripts that need it.
    private final class Holder: Sendable {
        let bunker = Mutex<ScriptedBunker?>(nil)
        func obey(_ request: NIP46.Request) -> ScriptedBunker.Reply {
            self.bunker.withLock { $0 }?.obey(request) ?? .outcome(.error("no bunker"))
        }
    }

    private typealias Change = @Sendable (NIP46.Request, Int, ScriptedBunker.Reply) -> [ScriptedBunker.Reply]?

    /// Runs a client of a correct bunker, modified by `change`.
    private func with(
        known: Bool = false, batch: Int = 1, _ change: @escaping Change = { _, _, _ in nil },
        _ body: (BunkerSigner, ScriptedBunker) async throws -> Void
    ) async throws {
        let holder = Holder()
        let bunker = ScriptedBunker(batch: batch) { request, time in
            let good = holder.obey(request)
            return change(request, time, good) ?? [good]
        }
        holder.bunker.withLock { $0 = bunker }
        var random = SplitMix64(seed: 4)
        let signer = BunkerSigner(
            bunker.url, clientKey: KeyPair.generate(using: &random), account: known ? bunker.user.publicKey : nil,
            transport: bunker, clock: bunker, randomness: SplitMix64(seed: 5), logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await signer.run() }
            try await body(signer, bunker)
            await bunker.shutdown()
            try await group.waitForAll()
        }
    }

    private func failure(_ body: () async throws(SignerError) -> Void) async -> SignerError? {
        do throws(SignerError) { try await body() } catch { return error }
        return nil
    }

    private func draft(_ bunker: ScriptedBunker) -> UnsignedEvent {
        UnsignedEvent(pubkey: bunker.user.publicKey, createdAt: 5, kind: .seal, tags: [Tag("é", "\"")], content: "c\n")
    }

    private func expectAccount(_ signer: BunkerSigner, _ bunker: ScriptedBunker) async throws {
        let account = try await signer.connect()
        #expect(account == bunker.user.publicKey)
    }

    // MARK: Correct answers

    @Test func connectsOnceAndLearnsAccount() async throws {
        try await self.with { signer, bunker in
            try await self.expectAccount(signer, bunker)
            try await self.expectAccount(signer, bunker)
            #expect(bunker.methods == ["connect", "get_public_key"])
            let params = bunker.requests[0].params
            #expect(params.prefix(2) == [bunker.keys.publicKey.hex, "hunter2"])
            #expect(params.last?.contains("sign_event:13,") == true && params.last?.hasSuffix("nip44_decrypt") == true)
        }
    }

    @Test func knownClientSkipsConnect() async throws {
        try await self.with(known: true) { signer, bunker in
            try await signer.ping()
            _ = try await signer.sign(self.draft(bunker))
            #expect(bunker.methods == ["ping", "get_public_key", "sign_event"])
        }
    }

    @Test func signsEncryptsAndDecrypts() async throws {
        try await self.with { signer, bunker in
            let draft = self.draft(bunker)
            let event = try await signer.sign(draft)
            #expect(event.unsigned == draft)
            try event.verify()
            let text = Array("zażółć \u{0} 🦊".utf8)
            let payload = try await signer.nip44Encrypt(text, to: bunker.stranger.publicKey)
            let key = try NIP44.conversationKey(bunker.stranger, bunker.user.publicKey)
            #expect(try NIP44.decrypt(payload, key) == text)
            let opened = try await signer.nip44Decrypt(payload, from: bunker.stranger.publicKey)
            #expect(opened == text)
        }
    }

    @Test func answersConcurrentRequests() async throws {
        try await self.with(known: true) { signer, bunker in
            _ = try await signer.connect()
            let draft = self.draft(bunker)
            let contents = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        var draft = draft
                        draft.content = "\(number)"
                        return try await signer.sign(draft).content
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(contents == Set((0..<10).map(String.init)))
            #expect(bunker.methods.filter { $0 == "get_public_key" }.count == 1)
        }
    }

    @Test func acceptsAnswersInReverseOrder() async throws {
        try await self.with(batch: 4) { signer, bunker in
            let answers = try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await signer.ping() } }
                try await group.waitForAll()
                return bunker.methods
            }
            #expect(answers == ["ping", "ping", "ping", "ping"])
        }
    }

    @Test func concurrentCallersShareOneHandshake() async throws {
        try await self.with { signer, bunker in
            try await withThrowingTaskGroup(of: PublicKey.self) { group in
                for _ in 0..<5 { group.addTask { try await signer.connect() } }
                for try await account in group { #expect(account == bunker.user.publicKey) }
            }
            #expect(bunker.methods == ["connect", "get_public_key"])
        }
    }

    // MARK: Missing answers

    @Test func retriesUnderSameIDUntilDeadline() async throws {
        try await self.with(known: true, { _, _, _ in [] }) { signer, bunker in
            let failure = await self.failure { () throws(SignerError) in try await signer.ping() }
            #expect(failure?.code == .away)
            #expect(failure?.message == "the signer did not answer within 30 s on wss://relay.example")
            #expect(bunker.requests.count == 6 && Set(bunker.requests.map(\.id)).count == 1)
        }
    }

    @Test func usesFirstOfSeveralAnswers() async throws {
        let script: Change = { request, time, good in
            request.method == .ping ? (time < 3 ? [] : [good, good, .outcome(.error("late"))]) : nil
        }
        try await self.with(script) { signer, bunker in
            try await signer.ping()
            try await signer.ping()
            #expect(bunker.requests.count == 6 && Set(bunker.requests.map(\.id)).count == 2)
        }
    }

    @Test func shutdownFailsPendingRequests() async throws {
        try await self.with({ _, _, _ in [.otherID(.result("pong"))] }) { signer, bunker in
            async let failure = self.failure { () throws(SignerError) in try await signer.ping() }
            try await eventually("the request is out") { !bunker.requests.isEmpty }
            await bunker.shutdown()
            #expect(await failure?.code == .away)
        }
    }

    // MARK: Bad answers

    @Test func ignoresMalformedAnswers() async throws {
        let script: Change = { request, _, good in
            [
                .stranger(.result("pong")), .otherID(.result("pong")), .bytes([]), .bytes(Array("{".utf8)),
                .bytes(Array(#"{"id":"\#(request.id)"}"#.utf8)), .bytes([UInt8](repeating: 0x5b, count: 60_000)), good,
            ]
        }
        try await self.with(script) { signer, bunker in
            try await signer.ping()
            #expect(bunker.requests.count == 1)
        }
    }

    @Test func ignoresAnswersOfStrangers() async throws {
        let script: Change = { _, time, good in time == 1 ? [] : [.stranger(.error("no")), good] }
        try await self.with(script) { signer, _ in try await signer.ping() }
    }

    @Test func refusesDifferentSignedEvent() async throws {
        let script: Change = { request, _, good in
            guard request.method == .signEvent, case .outcome(.result(let text)) = good else { return nil }
            return [.result(text.replacing("\"created_at\":5", with: "\"created_at\":6"))]
        }
        try await self.with(script) { signer, bunker in
            let failure = await self.failure { () throws(SignerError) in
                _ = try await signer.sign(self.draft(bunker))
            }
            #expect(failure?.code == .wrongAnswer)
        }
        for text in ["", "{}", "signed", "[]"] {
            try await self.with({ request, _, _ in request.method == .signEvent ? [.result(text)] : nil }) {
                signer, bunker in
                let failure = await self.failure { () throws(SignerError) in
                    _ = try await signer.sign(self.draft(bunker))
                }
                #expect(failure?.code == .wrongAnswer)
            }
        }
    }

    @Test func signerOfAnotherAccountIsNotUsed() async throws {
        let script: Change = { request, _, _ in
            request.method == .getPublicKey ? [.result(String(repeating: "0", count: 63) + "2")] : nil
        }
        try await self.with(known: true, script) { signer, bunker in
            let failure = await self.failure { () throws(SignerError) in
                _ = try await signer.sign(self.draft(bunker))
            }
            #expect(failure?.code == .wrongAccount)
            #expect(failure?.message.contains(bunker.user.publicKey.npub) == true)
            #expect(bunker.methods == ["get_public_key"])
        }
    }

    @Test func refusesInvalidPublicKey() async throws {
        try await self.with({ request, _, _ in request.method == .getPublicKey ? [.result("x")] : nil }) { signer, _ in
            let failure = await self.failure { () throws(SignerError) in _ = try await signer.connect() }
            #expect(failure?.code == .wrongAnswer)
        }
    }

    // MARK: Refusals

    @Test func reportsReasonOfRefusal() async throws {
        let script: Change = { request, _, _ in
            request.method == .nip44Encrypt ? [.outcome(.error("not\u{1b}[31m allowed"))] : nil
        }
        try await self.with(script) { signer, bunker in
            let failure = await self.failure { () throws(SignerError) in
                _ = try await signer.nip44Encrypt([0x61], to: bunker.stranger.publicKey)
            }
            #expect(failure == SignerError(.refused, "not[31m allowed"))
        }
    }

    @Test func toleratesUsedSecret() async throws {
        try await self.with({ request, _, _ in request.method == .connect ? [.outcome(.error("used"))] : nil }) {
            signer, bunker in
            try await self.expectAccount(signer, bunker)
        }
    }

    @Test func forgottenClientConnectsAgain() async throws {
        let knows = Mutex(false)
        let forgetful: Change = { request, _, _ in
            switch request.method {
            case .connect:
                knows.withLock { $0 = true }
                return nil
            case .getPublicKey: return knows.withLock { $0 } ? nil : [.outcome(.error("who are you?"))]
            default: return nil
            }
        }
        try await self.with(known: true, forgetful) { signer, bunker in
            try await self.expectAccount(signer, bunker)
            #expect(bunker.methods == ["get_public_key", "connect", "get_public_key"])
        }
    }

    @Test func reportsRefusedConnect() async throws {
        try await self.with({ request, _, _ in [.outcome(.error("no \(request.method.rawValue)"))] }) {
            signer, bunker in
            let failure = await self.failure { () throws(SignerError) in _ = try await signer.connect() }
            #expect(failure == SignerError(.refused, "no connect"))
            // The next attempt starts from the beginning.
            _ = await self.failure { () throws(SignerError) in _ = try await signer.connect() }
            #expect(bunker.methods == ["connect", "get_public_key", "connect", "get_public_key"])
        }
    }

    @Test func refusesOversizedRequests() async throws {
        try await self.with { signer, bunker in
            _ = try await signer.connect()
            let failure = await self.failure { () throws(SignerError) in
                _ = try await signer.nip44Encrypt(
                    [UInt8](repeating: 0x22, count: 33_000), to: bunker.stranger.publicKey)
            }
            #expect(failure?.code == .tooLarge && bunker.requests.count == 2)
            let bytes = await self.failure { () throws(SignerError) in
                _ = try await signer.nip44Encrypt([0xff], to: bunker.stranger.publicKey)
            }
            #expect(bytes?.code == .refused && bunker.requests.count == 2)
        }
    }

    // MARK: Approval

    @Test func awaitsApprovalWithoutRepeating() async throws {
        let url = "https://signer.example/approve?x=1"
        try await self.with({ _, _, good in [.outcome(.challenge(url: url)), good] }) { signer, bunker in
            try await signer.ping()
            #expect(bunker.requests.count == 1)
            #expect(await signer.challenges.first { _ in true } == url)
        }
    }

    @Test(arguments: [
        "javascript:alert(1)", "https://a b", "ftp://a", "https://" + String(repeating: "a", count: 2048),
    ])
    func ignoresInvalidApprovalAddress(_ url: String) async throws {
        try await self.with({ _, _, good in [.outcome(.challenge(url: url)), good] }) { signer, bunker in
            try await signer.ping()
            await bunker.shutdown()
            #expect(await signer.challenges.first { _ in true } == nil)
        }
    }
}
