import BotKit
import Testing

@testable import BotDispatch
@testable import PikaCore

private func timer(_ name: String, chat: ChatID = "c1", key: String = "", due: Int64 = 5) -> TimerRun {
    TimerRun(name: name, chatID: chat, key: key, text: "t \"x\"", dueMilliseconds: due)
}

private func talk(_ name: String, chat: ChatID = "c1", with person: String = "bb") -> ConversationName {
    ConversationName(chatID: chat, person: person, name: name)
}

struct BotMemoryTests {
    /// Returns the stored values after the effects, by scope and key.
    private func stored(_ effects: [[HandlerEffect]]) -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for case .putValue(let scope, let key, let value) in effects.joined().map(\.operation) {
            values["\(scope).\(key)"] = value
        }
        return values
    }

    @Test func storedStateRoundTrips() async throws {
        let memory = BotMemory()
        var effects: [[HandlerEffect]] = []
        memory.commit([
            ("a", .setTimer(timer("tea", due: 9))), ("a", .setTimer(timer("tea", key: "2"))),
            ("a", .setTimer(timer("x", chat: "c2", due: 7))),
            ("b", .setConversation(talk("order"), state: Array("{}".utf8))),
        ]) { effects.append($0) }
        memory.commit([("a", .cancelTimer(timer("tea", key: "2").timer))]) { effects.append($0) }
        let core = ScriptedCore(stored: stored(effects))
        let again = BotMemory()
        for bot in ["a", "b"] { try await again.load(bot, from: core) }
        #expect(again.nextTimer(of: ["a"]) == 7)
        #expect(again.nextTimer(of: ["b"]) == nil)
        #expect(again.isSet(timer("tea", due: 9), of: "a"))
        #expect(!again.isSet(timer("tea", due: 8), of: "a"))
        #expect(again.conversations(of: "b", in: "c1", with: "bb") == ["order": Array("{}".utf8)])
        #expect(again.conversations(of: "b", in: "c2", with: "bb").isEmpty)
    }

    @Test func migratesEarlierChatIDs() async throws {
        let alone = ChatID(rawValue: String(repeating: "a1", count: 32))
        let shared = ChatID(rawValue: String(repeating: "b2", count: 32))
        let memory = BotMemory()
        var effects: [[HandlerEffect]] = []
        memory.commit([
            ("a", .setTimer(timer("tea", chat: alone))), ("a", .setTimer(timer("new", chat: "c3"))),
            ("a", .setConversation(talk("order", chat: alone), state: Array("{}".utf8))),
            ("a", .setTimer(timer("old", chat: shared))),
        ]) { effects.append($0) }
        let core = ScriptedCore(
            chats: [
                chatSummary("c1", isGroup: true, routingIDs: [shared.rawValue, alone.rawValue]),
                chatSummary("c2", isGroup: true, routingIDs: [shared.rawValue]), chatSummary("c3", isGroup: true),
            ], stored: stored(effects))
        for _ in 0..<2 {
            let again = BotMemory()
            try await again.load("a", from: core)
            #expect(again.isSet(timer("tea"), of: "a") && !again.isSet(timer("tea", chat: alone), of: "a"))
            #expect(again.conversations(of: "a", in: "c1", with: "bb") == ["order": Array("{}".utf8)])
            #expect(again.isSet(timer("new", chat: "c3"), of: "a"))
            #expect(again.isSet(timer("old", chat: shared), of: "a"), "an ambiguous chat id must not be migrated")
            let keys = ["chats", "c1", "c3", shared.rawValue].map { "a/memory.\($0)" }
            #expect(core.storedKeys == Set(keys))
        }
    }

    @Test func removesFinishedEntries() {
        let memory = BotMemory()
        var effects: [[HandlerEffect]] = []
        memory.commit([("a", .setTimer(timer("x"))), ("a", .setConversation(talk("o"), state: [0x31]))]) {
            effects.append($0)
        }
        memory.commit([("a", .cancelTimer(timer("x").timer)), ("a", .endConversation(talk("o")))]) {
            effects.append($0)
        }
        #expect(stored(effects).isEmpty)
        memory.commit([]) { effects.append($0) }
        #expect(effects.last == [])
    }

    @Test func dueTimerIsDequeuedOnceUntilFinished() {
        let memory = BotMemory()
        memory.commit([("a", .setTimer(timer("x"))), ("a", .setTimer(timer("y", due: 4)))]) { _ in }
        #expect(memory.dequeueDue(nowMilliseconds: 3, of: ["a"]).isEmpty)
        #expect(memory.dequeueDue(nowMilliseconds: 5, of: []).isEmpty)
        #expect(memory.dequeueDue(nowMilliseconds: 5, of: ["a"]).map(\.run.name) == ["y", "x"])
        #expect(memory.dequeueDue(nowMilliseconds: 5, of: ["a"]).isEmpty)
        #expect(memory.nextTimer(of: ["a"]) == nil)
        memory.finish(timer("x"), of: "a")
        #expect(memory.dequeueDue(nowMilliseconds: 5, of: ["a"]).map(\.run.name) == ["x"])
    }

    @Test func limitsTimersPerChat() {
        let memory = BotMemory()
        let many = (0..<BotMemory.maximumTimers).map { ("a", BotMemoryChange.setTimer(timer("x", key: "\($0)"))) }
        #expect(memory.commit(many) { _ in } == 0)
        #expect(memory.commit([("a", .setTimer(timer("y")))]) { _ in } == 1)
        #expect(memory.commit([("a", .setTimer(timer("x", key: "3", due: 8)))]) { _ in } == 0)
        #expect(memory.commit([("a", .setTimer(timer("y", chat: "c2")))]) { _ in } == 0)
    }

    @Test(arguments: ["", "{", "[]", "{\"v\":2}", "{\"v\":1,\"timers\":[{}],\"conversations\":{\"a\":1}}"])
    func ignoresUnreadableState(text: String) {
        #expect(ChatMemory(stored: Array(text.utf8), chatID: "c1").isEmpty)
    }
}
