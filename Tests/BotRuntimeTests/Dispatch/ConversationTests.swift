import BotKit
import LiveTesting
import Testing

@testable import BotDispatch
@testable import PikaCore

/// A bot whose conversation fails at its end.
private struct BrittleBot: Bot {
    private struct Broken: Error {}

    static let name = "brittle"
    init(settings: BotSettings = .null) {}

    var handlers: [Handler] {
        Conversation("talk", when: .command("talk"), timeout: .seconds(60)) { _, context in
            context.send("Go on.")
            return .wait(0)
        } next: { _, _, _ in
            .end
        } timedOut: { _, context in
            context.send("lost")
            throw Broken()
        }
        OnMessage { message, context in context.send("hm, \(message.content)") }
    }
}

@Suite(.bounded)
struct ConversationTests {
    private struct Line {
        let text: String
        var from: Character = "b"
        var chat: ChatID = "c1"
        let answer: [String]
    }

    private func play(_ lines: [Line], on stage: Stage) async {
        for (number, line) in lines.enumerated() {
            stage.core.deliver(arrived(line.text, Int64(number + 1), chat: line.chat, from: key(line.from)))
            let answer = await stage.core.completed(1).flatMap { texts($0.effects) }
            #expect(answer == line.answer, "\(number): \(line.text)")
        }
    }

    @Test func keepsOneConversationPerPersonAndChat() async {
        await Stage(OrderBot(settings: .null)).run { stage in
            await play(
                [
                    Line(text: "hi", answer: ["hm, hi"]),
                    Line(text: "/order", answer: ["What?"]),
                    Line(text: "hi", from: "c", answer: ["hm, hi"]),
                    Line(text: "hi", chat: "c2", answer: ["hm, hi"]),
                    Line(text: "/order", from: "c", answer: ["What?"]),
                    Line(text: "soup", answer: ["How many?"]),
                    Line(text: "tea", from: "c", answer: ["How many?"]),
                    Line(text: "/price", answer: ["7"]),
                    Line(text: "2", answer: ["2 × soup"]),
                    Line(text: "3", from: "c", answer: ["3 × tea"]),
                    Line(text: "hi", answer: ["hm, hi"]),
                ], on: stage)
            #expect(stage.dispatcher.memory.nextTimer(of: ["bot0"]) == nil)
        }
    }

    @Test func endsRestartsAndSurvivesFailure() async {
        await Stage(OrderBot(settings: .null)).run { stage in
            await play(
                [
                    Line(text: "/order", answer: ["What?"]),
                    Line(text: "soup", answer: ["How many?"]),
                    Line(text: "/order", answer: ["What?"]),
                    Line(text: "burnt", answer: []),
                    Line(text: "rice", answer: ["How many?"]),
                    Line(text: " /Cancel ", answer: ["Cancelled."]),
                    Line(text: "2", answer: ["hm, 2"]),
                ], on: stage)
        }
    }

    @Test func timesOutAfterLastMessage() async {
        let clock = StandingClock()
        await Stage(OrderBot(settings: .null), clock: clock).run { stage in
            await play([Line(text: "/order", answer: ["What?"])], on: stage)
            clock.advance(by: .seconds(200))
            stage.core.deliver(arrived("soup", 9))
            #expect(await stage.core.completed(1).flatMap { texts($0.effects) } == ["How many?"])
            #expect(stage.dispatcher.memory.nextTimer(of: ["bot0"]) == clock.nowMilliseconds + 300_000)
            // Two handlers and the first wake-up; then the second one.
            for _ in 0..<3 { await clock.waitForSleeper() }
            clock.advance(by: .seconds(100))
            await clock.waitForSleeper()
            clock.advance(by: .seconds(200))
            #expect(await stage.core.performed(1).flatMap { texts($0.effects) } == ["No soup, then."])
            stage.core.deliver(arrived("hi", 10))
            #expect(await stage.core.completed(1).flatMap { texts($0.effects) } == ["hm, hi"])
        }
    }

    @Test func endsEvenIfEndHandlerFails() async {
        let clock = StandingClock()
        await Stage(BrittleBot(), clock: clock).run { stage in
            await play([Line(text: "/talk", answer: ["Go on."])], on: stage)
            for _ in 0..<2 { await clock.waitForSleeper() }
            clock.advance(by: .seconds(60))
            // This deletes the last chat with stored state.
            #expect(
                await stage.core.performed(1).flatMap { $0.effects.map(\.operation) } == [
                    .putValue(scope: "bot0/memory", key: "c1", value: nil),
                    .putValue(scope: "bot0/memory", key: "chats", value: nil),
                ])
            await play([Line(text: "hi", answer: ["hm, hi"])], on: stage)
        }
    }

    @Test func removedConversationNeedsMention() async {
        let memory = #"{"v":1,"timers":[],"conversations":{"\#(key("b").hex)":{"order":"{}"}}}"#
        let stored = ["bot0/memory.chats": Array("c1".utf8), "bot0/memory.c1": Array(memory.utf8)]
        let bot = InstalledBot(BrittleBot(), label: "bot0", policy: BotPolicy(groups: GroupPolicy(.mention)))
        let core = ScriptedCore(chats: [chatSummary("c1", isGroup: true)], stored: stored)
        await Stage([bot], core: core).run { stage in
            await play(
                [
                    Line(text: "hi", answer: []),
                    Line(text: "@greeter hi", answer: ["hm, @greeter hi"]),
                ], on: stage)
        }
    }

    @Test func resumesFromStoredState() async {
        let memory = #"{"v":1,"timers":[],"conversations":{"\#(key("b").hex)":{"order":"{\"dish\":\"pie\"}"}}}"#
        let stored = ["bot0/memory.chats": Array("c1".utf8), "bot0/memory.c1": Array(memory.utf8)]
        await Stage(OrderBot(settings: .null), core: ScriptedCore(stored: stored)).run { stage in
            await play([Line(text: "4", answer: ["4 × pie"]), Line(text: "hi", answer: ["hm, hi"])], on: stage)
        }
    }

    @Test func endsConversationsOfOtherVersions() async {
        let memory = #"{"v":1,"timers":[],"conversations":{"\#(key("b").hex)":{"order":"[]"}}}"#
        let stored = ["bot0/memory.chats": Array("c1".utf8), "bot0/memory.c1": Array(memory.utf8)]
        await Stage(OrderBot(settings: .null), core: ScriptedCore(stored: stored)).run { stage in
            await play([Line(text: "4", answer: []), Line(text: "hi", answer: ["hm, hi"])], on: stage)
        }
    }

    @Test func continuesWithoutMention() async {
        let bot = InstalledBot(
            OrderBot(settings: .null), label: "bot0", policy: BotPolicy(groups: GroupPolicy(.mention)))
        let core = ScriptedCore(chats: [chatSummary("c1", isGroup: true)])
        await Stage([bot], core: core).run { stage in
            await play(
                [
                    Line(text: "/order", answer: []),
                    Line(text: "@greeter /order", answer: ["What?"]),
                    Line(text: "pie", from: "c", answer: []),
                    Line(text: "soup", answer: ["How many?"]),
                    Line(text: "2", answer: ["2 × soup"]),
                    Line(text: "2", answer: []),
                ], on: stage)
        }
    }
}
