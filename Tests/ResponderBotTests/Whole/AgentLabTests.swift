import BotKit
import BotTesting
import Synchronization
import Testing

@testable import ResponderBot

struct AgentLabTests {
    private static func rule(_ more: (String, BotSettings)...) -> BotSettings {
        var agent: [String: BotSettings] = [
            "endpoint": "https://api.example/v1/chat/completions", "model": "small", "token": ["env": "LLM"],
            "maximumTokens": 100,
        ]
        for (key, value) in more { agent[key] = value }
        return ["when": ["command": "ask"], "agent": .object(agent), "failure": "I cannot."]
    }

    @Test func sendsChatCompletionRequests() async throws {
        let world = FakeWorld { _, _ throws(BotError) in .saying(" fine ", tokens: 10) }
        let room = try await Room(
            Self.rule(("system", "You are {me}."), ("temperature", 0.5), ("history", 2)), world: world)
        for text in ["one", "two", "three"] {
            try await room.bob.say(text, in: room.chat)
            try await room.lab.advance(by: .seconds(1))
        }
        #expect(try await room.answers(to: "/ask how are you?") == ["fine"])
        let request = try #require(world.requests.first)
        #expect(request.url == "https://api.example/v1/chat/completions")
        #expect(request.header("Authorization") == "Bearer secret of LLM")
        let (ann, bob) = (room.ann.publicKey.npub.prefix(12), room.bob.publicKey.npub.prefix(12))
        #expect(
            request.turns == [
                "system You are helper.", "user \(bob): two", "user \(bob): three", "user \(ann): how are you?",
            ])
        #expect(request.document?["model"] == "small")
        #expect(request.document?["max_tokens"] == 100)
        #expect(request.document?["temperature"] == 0.5)
        #expect(request.document?["stream"] == false)
        try await room.lab.advance(by: .seconds(1))
        _ = try await room.answers(to: "/ask again")
        #expect(world.requests.last?.turns.dropFirst().first == "user \(ann): /ask how are you?")
        #expect(world.requests.last?.turns.dropFirst(2).first == "assistant fine")
    }

    @Test func retriesTransientFailures() async throws {
        let world = FakeWorld { _, number throws(BotError) in
            switch number {
            case 1: return BotHTTPResponse(status: 429, body: [], retryAfter: .seconds(3))
            case 2: throw BotError(.requestFailed, "no connection")
            default: return .saying("at last", tokens: 1)
            }
        }
        let room = try await Room(Self.rule(), world: world)
        #expect(try await room.answers(to: "/ask") == [])
        #expect(try await room.botMessages(in: .milliseconds(2_900)) == [])
        #expect(world.requests.count == 1)
        #expect(try await room.botMessages(in: .seconds(1)) == [])
        #expect(world.requests.count == 2)
        #expect(try await room.botMessages(in: .seconds(2)) == ["at last"])
        #expect(world.requests.map(\.timeout) == [.seconds(25), .seconds(22), .seconds(20)])
    }

    @Test func limitsRetriesAndTime() async throws {
        let broken = FakeWorld { _, _ throws(BotError) in BotHTTPResponse(status: 503, body: []) }
        let room = try await Room(Self.rule(), world: broken)
        _ = try await room.answers(to: "/ask")
        #expect(try await room.botMessages(in: .seconds(10)) == ["I cannot."])
        #expect(broken.requests.count == 3)
        let far = FakeWorld { _, _ throws(BotError) in BotHTTPResponse(status: 429, body: [], retryAfter: .seconds(60))
        }
        let other = try await Room(Self.rule(), world: far)
        #expect(try await other.answers(to: "/ask") == ["I cannot."])
        #expect(far.requests.count == 1)
    }

    @Test(arguments: [
        BotHTTPResponse(status: 401, body: Array("bad key sk-1".utf8)), .ok("<html>"), .saying("", tokens: 1),
    ])
    func reportsPermanentFailuresAtOnce(_ response: BotHTTPResponse) async throws {
        let world = FakeWorld { _, _ throws(BotError) in response }
        let room = try await Room(Self.rule(), world: world)
        #expect(try await room.answers(to: "/ask") == ["I cannot."])
        #expect(world.requests.count == 1)
        #expect(!room.lab.logLines.contains { $0.contains("sk-1") || $0.contains("secret of") })
    }

    @Test func budgetsSurviveCrashes() async throws {
        let world = FakeWorld { _, _ throws(BotError) in .saying("yes", tokens: 400) }
        let room = try await Room(
            Self.rule(("budget", ["perSender": "600/day", "perGroup": "1500/day"]), ("exhausted", "Enough.")),
            world: world)
        #expect(try await room.answers(to: "/ask") == ["yes"])
        #expect(try await room.answers(to: "/ask") == ["yes"])
        #expect(try await room.answers(to: "/ask") == ["Enough."])
        #expect(try await room.answers(to: "/ask", from: room.bob) == ["yes"])
        room.bot.crash()
        try await room.bot.restart()
        #expect(try await room.answers(to: "/ask") == ["Enough."])
        #expect(try await room.answers(to: "/ask", from: room.bob) == ["yes"])
        #expect(world.requests.count == 4)
        try await room.lab.advance(by: .seconds(86_400))
        #expect(try await room.answers(to: "/ask") == ["yes"])
    }

    @Test func supportsProgramsAsAgents() async throws {
        let world = FakeWorld(shell: { program throws(BotError) in
            let request = try? JSONValue(json: program.input)
            let question = request?["messages"]?.array?.last?["content"]?.string ?? "?"
            return "\(question.suffix(5)) \(request?["event"]?["event"]?["command"]?.string ?? "?")\n"
        })
        let room = try await Room(
            ["when": ["command": "ask"], "agent": ["command": ["agent.py"], "timeout": "4s"]], world: world)
        #expect(try await room.answers(to: "/ask hello") == ["hello ask"])
        #expect(world.programs.first?.timeout == .seconds(4))
    }

    @Test func showsTypingWhileAsking() async throws {
        let lab = try GroupLab(seed: 3)
        let ann = try await lab.member("ann")
        let clock = lab.clock
        let world = FakeWorld { _, _ throws(BotError) in
            try? await clock.sleep(untilMilliseconds: clock.nowMilliseconds + 12_000)
            return .saying("thought", tokens: 1)
        }
        let bot = try await lab.bot(
            ResponderBot.self, name: "helper",
            settings: ["allow": ["api.example"], "rules": [Self.rule()]], services: world.services)
        let chat = try await ann.create("typing", inviting: [bot])
        _ = try await ann.perform(.openChat(chatID: chat))
        try await ann.say("/ask", in: chat)
        for _ in 0..<2 {
            #expect(try await ann.state().currentChat?.typing.map(\.publicKey) == [bot.publicKey])
            try await lab.advance(by: .seconds(5))
        }
        try await lab.advance(by: .seconds(3))
        #expect(ann.heard(in: chat, from: bot) == ["thought"])
    }

    /// The process crashes after the request to the agent, before its answer is stored.
    @Test func asksAgainAfterCrashAndAnswersOnce() async throws {
        let lab = try GroupLab(seed: 4)
        let ann = try await lab.member("ann")
        let clock = lab.clock
        let world = FakeWorld { _, _ throws(BotError) in
            try? await clock.sleep(untilMilliseconds: clock.nowMilliseconds + 5_000)
            return .saying("once", tokens: 1)
        }
        let bot = try await lab.bot(
            ResponderBot.self, name: "helper",
            settings: ["allow": ["api.example"], "rules": [Self.rule()]], services: world.services)
        let chat = try await ann.create("crash", inviting: [bot])
        try await ann.say("/ask", in: chat)
        #expect(world.requests.count == 1)
        bot.crash()
        try await bot.restart()
        #expect(world.requests.count == 2)
        try await lab.advance(by: .seconds(20))
        #expect(ann.heard(in: chat, from: bot) == ["once"])
    }
}
