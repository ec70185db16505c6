import BotTesting
import Errors
import LiveTesting
import Synchronization
import Testing

@testable import BotKit

/// A service with rotating refresh tokens: each is accepted once, and reuse ends the session.
private final class TokenService: Sendable {
    private struct State {
        var access = "a0"
        var refresh = "r0"
        var renewals = 0
        var isRevoked = false
    }

    private let state = Mutex(State())

    var renewals: Int { state.withLock { $0.renewals } }

    func expire() { state.withLock { $0.access = "expired" } }

    func answer(_ request: BotHTTPRequest) -> BotHTTPResponse {
        let token = request.headers.first { $0.name == "Authorization" }?.value
        let isGood = state.withLock { token == "Bearer \($0.access)" }
        return BotHTTPResponse(status: isGood ? 200 : 401, body: [])
    }

    func renew(_ refresh: BotSecret) -> TokenRenewal {
        state.withLock { state in
            guard refresh.text == state.refresh, !state.isRevoked else {
                state.isRevoked = true
                return .refused
            }
            state.renewals += 1
            state.access = "a\(state.renewals)"
            state.refresh = "r\(state.renewals)"
            return .renewed(TokenPair(access: BotSecret(state.access), refresh: BotSecret(state.refresh)))
        }
    }
}

@Suite(.bounded) struct TokenPipelineTests {
    private let service = TokenService()
    private let records = MemoryRecords()
    private let background = BackgroundTasks()
    private let request = BotHTTPRequest(method: "GET", url: "https://shop.example/orders")

    private func pipeline() -> TokenPipeline {
        let service = service
        return TokenPipeline(
            name: "shop", http: ScriptedHTTP { request, _ in service.answer(request) },
            vault: BotVault(bot: "cook", records: records), background: background,
            renew: { refresh, _ in service.renew(refresh) })
    }

    private func run(_ body: @Sendable @escaping (TokenPipeline) async throws -> Void) async throws {
        let background = background
        let pipeline = pipeline()
        try await pipeline.signIn(TokenPair(access: BotSecret("a0"), refresh: BotSecret("r0")))
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await background.run() }
            try await body(pipeline)
            background.finish()
        }
    }

    @Test func stormOfRefusalsRenewsOnce() async throws {
        service.expire()
        let request = request
        try await run { pipeline in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await pipeline.send(request).status } }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(service.renewals == 1)
    }

    @Test func storesTokensBeforeUse() async throws {
        service.expire()
        let (request, records) = (request, records)
        try await run { pipeline in
            records.fail(afterWrites: 0)
            await #expect(throws: BotError.self) { try await pipeline.send(request) }
            records.recover()
            let status = try await pipeline.send(request).status
            #expect(status == 200)
        }
        // The tokens of the one renewal were stored later, and the refresh token was not used twice.
        #expect(service.renewals == 1)
        let stored = try await BotVault(bot: "cook", records: records).secret("shop.refresh")
        #expect(stored?.text == "r1")
    }

    @Test func reusedRefreshTokenSignsOut() async throws {
        service.expire()
        _ = service.renew(BotSecret("r0"))
        service.expire()
        let request = request
        try await run { pipeline in
            do {
                _ = try await pipeline.send(request)
                Issue.record("expected a failure")
            } catch {
                #expect((error as? BotError)?.code == .signedOut)
            }
            let isSignedIn = try await pipeline.isSignedIn()
            #expect(!isSignedIn)
        }
        let names = try await BotVault(bot: "cook", records: records).names()
        #expect(names.isEmpty)
    }

    @Test func keepsTokensAcrossRestarts() async throws {
        try await run { _ in }
        let status = try await pipeline().send(request).status
        #expect(status == 200)
    }
}
