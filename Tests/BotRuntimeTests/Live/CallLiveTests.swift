import BotTesting
import CallMedia
import EmbeddedRelay
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Testing

/// Two accounts call each other: signals over a real relay and real connections, media over the loopback, real time.
@Suite(.live)
struct CallLiveTests {
    private struct Account: Sendable {
        let core: AppCore
        let pool: RelayPool

        init(_ relay: RelayURL, _ media: CallLoopback, calls: CallPolicy) throws {
            let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            var random = SystemRandomNumberGenerator()
            pool = try RelayPool(addresses: .unrestricted, logger: quiet)
            var ports = CorePorts(transport: pool, store: MemoryCoreStore(), clock: SystemClock(), logger: quiet)
            ports.callMedia = CallMediaSessions(transport: media, clock: SystemClock())
            core = AppCore(
                account: KeyPair.generate(using: &random),
                configuration: CoreConfiguration(relays: [relay], invites: .anyone, calls: calls), ports: ports)
        }

        func run() async throws {
            try await withThrowingTaskGroup { group in
                group.addTask { try await self.pool.run() }
                group.addTask { try await self.core.run() }
                group.addTask { for await event in core.events { core.complete(event.inboxID, effects: []) } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }

        /// Returns a value of the first snapshot that has it.
        func first<Value>(_ find: (AppState) -> Value?) async throws -> Value {
            for await case .fullState(let state) in core.updates() {
                if let value = find(state) { return value }
            }
            throw CancellationError()
        }

        func callPhase(_ phase: AppState.ActiveCall.Phase) async throws -> AppState.ActiveCall {
            try await first { $0.activeCall?.phase == phase ? $0.activeCall : nil }
        }
    }

    private func withTwo(_ body: (Account, Account) async throws -> Void) async throws {
        try await withEmbeddedRelay { _, address in
            let relay = try RelayURL(address)
            let media = CallLoopback(prefix: "loopback:")
            let alice = try Account(relay, media, calls: .app)
            let bob = try Account(relay, media, calls: .app)
            try await withThrowingTaskGroup { group in
                group.addTask { try await alice.run() }
                group.addTask { try await bob.run() }
                defer { group.cancelAll() }
                try await body(alice, bob)
            }
        }
    }

    private func chat(of alice: Account, with bob: Account) async throws -> ChatID {
        for account in [alice, bob] { _ = try await account.first { $0.hasPublishedKeyPackage ? true : nil } }
        alice.core.dispatch(.createChat(peer: bob.core.account))
        let chat = try await bob.first { $0.chatList.first?.chatID }
        _ = try await alice.first { $0.chatList.contains { $0.chatID == chat } ? true : nil }
        return chat
    }

    private func connect(_ alice: Account, _ bob: Account, _ session: CallSession) async throws -> (
        CallMediaSession, CallMediaSession
    ) {
        let chat = try await chat(of: alice, with: bob)
        alice.core.dispatch(.startCall(chatID: chat, session: session))
        let call = try await bob.callPhase(.ringing)
        bob.core.dispatch(.acceptCall(chatID: chat, callID: call.callID))
        for account in [alice, bob] { _ = try await account.callPhase(.active) }
        return (
            try #require(alice.core.callMedia(callID: call.callID)),
            try #require(bob.core.callMedia(callID: call.callID))
        )
    }

    @Test func exchangesAudioAndEndsCall() async throws {
        try await withTwo { alice, bob in
            let session = CallSession(moqURL: "loopback:here", broadcastBase: "pika/calls", tracks: [.audio])
            let (speaking, listening) = try await connect(alice, bob, session)
            let reader = Task { () -> [CallAudioChunk] in
                var chunks: [CallAudioChunk] = []
                for await case .audio(let chunk) in listening.received { chunks.append(chunk) }
                return chunks
            }
            // Frames are lost until the other side listens, as with any live stream.
            let silence = [UInt8](repeating: 0, count: 1920)
            var lead: UInt64 = 0
            while listening.statistics.received == 0 {
                try await speaking.sendAudio(silence)
                try await speaking.endAudio()
                lead += 1
            }
            let frames = (0..<50).map { [UInt8](repeating: UInt8($0 + 1), count: 1920) }
            #expect(try await speaking.sendAudio(Array(frames.joined())) == 50)
            try await speaking.endAudio()
            _ = try await bob.first { state in
                state.activeCall.flatMap { $0.statistics.received >= 50 && $0.statistics.jitterDepth == 0 ? true : nil }
            }
            let call = try await alice.callPhase(.active)
            #expect(call.peer == bob.core.account && call.isOutgoing)
            alice.core.dispatch(.endCall(chatID: call.chatID, callID: call.callID, reason: "user_hangup"))
            for account in [alice, bob] { _ = try await account.callPhase(.ended(reason: "user_hangup")) }
            let chunks = await reader.value
            // A busy machine may lose frames, but never mixes them up.
            for chunk in chunks where !chunk.isConcealed {
                #expect(chunk.pcm == (chunk.sequence < lead ? silence : frames[Int(chunk.sequence - lead)]))
            }
            #expect(chunks.last?.sequence == lead + 49)
            #expect(zip(chunks, chunks.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
            #expect(speaking.statistics.sent == Int(lead) + 50)
        }
    }

    @Test func exchangesData() async throws {
        try await withTwo { alice, bob in
            let session = CallSession(moqURL: "loopback:here", broadcastBase: "pika/pty", tracks: [.data])
            let (left, right) = try await connect(alice, bob, session)
            let answering = Task {
                for await case .data(_, let bytes) in right.received { try right.sendData(Array("re: ".utf8) + bytes) }
            }
            let sending = Task {
                while !Task.isCancelled {
                    try left.sendData(Array("ls".utf8))
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            for await case .data(let track, let bytes) in left.received {
                #expect(track == "pty0" && bytes == Array("re: ls".utf8))
                break
            }
            sending.cancel()
            answering.cancel()
        }
    }

    @Test func unsupportedURLEndsCall() async throws {
        try await withTwo { alice, bob in
            let chat = try await chat(of: alice, with: bob)
            let session = CallSession(moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: [.audio])
            alice.core.dispatch(.startCall(chatID: chat, session: session))
            let call = try await bob.callPhase(.ringing)
            bob.core.dispatch(.acceptCall(chatID: chat, callID: call.callID))
            for account in [alice, bob] {
                _ = try await account.callPhase(.ended(reason: "runtime_error"))
            }
            #expect(await bob.core.state.toast?.contains("https://moq.example/anon") == true)
        }
    }
}
