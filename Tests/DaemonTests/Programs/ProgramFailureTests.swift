import LiveTesting
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import BotTesting
@testable import Daemon

/// Misbehaving programs, and chats that are withdrawn from them.
@Suite(.bounded) struct ProgramFailureTests {
    @Test func detectsProgramReadingNoReplies() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 31)
        let program = try await world.start(limit: 2_000, reads: false)
        try await world.say(#"{"cmd":"hello","protocol":2,"acks":true}"#, program)
        try await world.say(#"{"cmd":"ack","cursor":1}"#, program)
        for _ in 0..<20 { try await world.say(#"{"cmd":"list_groups"}"#, program) }
        let stall = Mutex<ProgramStall?>(nil)
        let engine = world.engine
        Task(executorPreference: world.lab.executor) {
            let found = await engine.waitForStall(of: program.client, milliseconds: 10_000)
            stall.withLock { $0 = found }
        }
        try await bob.say("recorded all the same", in: chat)
        #expect(world.account.store.inbox.isEmpty)
        try await world.lab.advance(by: .milliseconds(9_999))
        #expect(stall.withLock { $0 } == nil)
        try await world.lab.advance(by: .milliseconds(1))
        #expect(stall.withLock { $0 } == .readsNothing)
        let report = try await world.finish(program, because: .stalled(.readsNothing))
        #expect(report.blamed?.cursor != 1, "an acknowledged event must not be blamed")
    }

    @Test func slowReaderIsNotStalled() async throws {
        let (world, _, _) = try await ProgramLab.make(seed: 32)
        let program = try await world.start(limit: 1_000, reads: false)
        try await world.say(#"{"cmd":"hello","protocol":2,"acks":true}"#, program)
        try await world.say(#"{"cmd":"ack","cursor":1}"#, program)
        for _ in 0..<10 { try await world.say(#"{"cmd":"list_groups"}"#, program) }
        let stall = Mutex<ProgramStall?>(nil)
        let engine = world.engine
        Task(executorPreference: world.lab.executor) {
            let found = await engine.waitForStall(of: program.client, milliseconds: 10_000)
            stall.withLock { $0 = found }
        }
        for _ in 0..<3 {
            try await world.lab.advance(by: .seconds(9))
            _ = try await world.lab.run { await program.client.lines.next() }
        }
        try await world.lab.settle()
        #expect(stall.withLock { $0 } == nil)
    }

    /// Expired events are never written and leave the backlog.
    @Test func expiredEventsDoNotStallTheProgram() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 37)
        let first = try await world.start()
        try await world.command("send_typing", ["nostr_group_id": .string(chat.rawValue)], first)
        _ = try await world.finish(first, because: nil)
        try await bob.say("too old by then", in: chat)
        let engine = world.engine
        try await world.lab.advance(by: .milliseconds(engine.machine.settings.keptFor + 1))
        let second = try await world.start()
        #expect(second.types == ["ready"])
        let stall = Mutex<ProgramStall?>(nil)
        Task(executorPreference: world.lab.executor) {
            let found = await engine.waitForStall(of: second.client, milliseconds: 10_000)
            stall.withLock { $0 = found }
        }
        try await world.lab.advance(by: .seconds(30))
        #expect(stall.withLock { $0 } == nil)
        #expect(await engine.waitingEvents == 0)
        try await bob.say("new", in: chat)
        #expect(second.contents == ["new"])
    }

    // MARK: Chats

    @Test func dropsEventsOfWithdrawnChats() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 33)
        try await bob.say("secret", in: chat)
        try await bob.remove([world.account], from: chat)
        let program = try await world.start()
        try await world.hello(program)
        #expect(program.types == ["ready", "ok", "group_updated"])
        #expect(program.lines.last?["update"]?["kind"] == "left")
        try await world.command("ack", ["cursor": 3], program)
        #expect(await world.engine.waitingEvents == 0)
        #expect(world.lab.logLines.count { $0.contains("its chat is no longer the program's") } == 2)
    }

    // MARK: Hello

    @Test func helloCursorConsumesEarlierEvents() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 34, keptEvents: 70)
        for number in 0..<4 { try await bob.say("\(number)", in: chat) }
        let program = try await world.start()
        let refused = try await world.command("hello", ["protocol": 2, "cursor": 6], program)
        #expect(refused?["code"] == "bad_cursor" && refused?["message"] == "cursor must be from 0 to 5")
        #expect(try await world.command("hello", ["protocol": 2, "cursor": 5], program)?["type"] == "ok")
        #expect(await world.engine.waitingEvents == 0)
        for number in 4..<12 { try await bob.say("\(number)", in: chat) }
        #expect(program.contents == (4..<12).map(String.init))
        #expect(world.account.store.inbox.isEmpty, "each event must be consumed on delivery")
        _ = try await world.finish(program, because: nil)

        let next = try await world.start()
        let again = try await world.command("hello", ["protocol": 2, "cursor": 11], next)
        #expect(again?["result"]?["replay"] == 2 && next.contents.suffix(2) == ["10", "11"])
    }

    @Test func refusedCommandStillStartsEvents() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 35)
        let program = try await world.start()
        #expect(try await world.command("hello", ["protocol": 2, "cursor": 99], program)?["code"] == "bad_cursor")
        try await bob.say("x", in: chat)
        try await world.lab.advance(by: .seconds(16))
        #expect(program.contents == ["x"])
    }

    @Test func consumesEventsBeforeALateHelloOnce() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 36)
        let first = try await world.start()
        try await world.command("send_typing", ["nostr_group_id": .string(chat.rawValue)], first)
        _ = try await world.finish(first, because: nil)
        try await bob.say("a", in: chat)
        let second = try await world.start()
        #expect(second.contents == ["a"], "an unacknowledged event must be sent again")
        try await world.hello(acks: false, second)
        try await bob.say("b", in: chat)
        #expect(second.contents == ["a", "b"])
        #expect(await world.engine.waitingEvents == 0)
    }
}
