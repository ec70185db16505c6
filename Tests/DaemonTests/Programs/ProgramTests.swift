import Nostr
import PikaCore
import Synchronization
import Testing

@testable import BotTesting
@testable import Daemon

/// Delivery of events to a bot that runs as an external program, and their acknowledgement.
@Suite struct ProgramTests {
    @Test func sendsNoEventsBeforeHello() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 1)
        try await bob.say("early", in: chat)
        #expect(world.account.store.inbox.isEmpty, "recorded events must count as handled, even without a program")
        let program = try await world.start()
        #expect(program.types == ["ready"])
        let reply = try await world.hello(program)
        #expect(reply?["result"]?["capabilities"] == ["cursor", "replay", "idempotency", "acks", "outcomes"])
        #expect(reply?["result"]?["waiting"] == 2)
        #expect(program.types == ["ready", "ok", "group_joined", "message_received"])
        #expect(program.cursors == [1, 2] && program.contents == ["early"])
    }

    @Test func reportsOutcomesOfItsCommands() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 31)
        let program = try await world.start()
        try await world.command("hello", ["protocol": 2, "acks": true, "outcomes": true], program)
        let fields: JSONObject = ["nostr_group_id": .string(chat.rawValue), "content": "hi", "idempotency_key": "k"]
        let sent = try await world.command("send_message", fields, program)
        #expect(sent?["result"]?["action"] == "test/command-k" && bob.heard() == ["hi"])
        let outcome = try #require(program.lines.last { $0["type"] == "outcome" })
        #expect(outcome["action"] == "test/command-k" && outcome["result"] == "delivered")
        #expect(outcome["message_id"] == sent?["result"]?["event_id"])
        let refused = try await world.command(
            "remove_members",
            ["nostr_group_id": .string(chat.rawValue), "peer_pubkeys": [.string(bob.publicKey.hex)]], program)
        #expect(refused?["type"] == "error")
        let failed = try #require(program.lines.last { $0["type"] == "outcome" })
        #expect(failed["name"] == "remove_group_members" && failed["result"] == "failed")
        #expect(failed["action"] == refused?["action"] && failed["error"] == "not_allowed")
        // Unacknowledged outcomes are delivered again, as all events.
        _ = try await world.finish(program, because: .ended)
        let next = try await world.start()
        try await world.hello(next)
        #expect(next.lines.count { $0["type"] == "outcome" } == 2)
    }

    @Test func startsWithoutHelloAfterCommandOrTimeout() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 2)
        let first = try await world.start()
        let sent = try await world.command(
            "send_message", ["nostr_group_id": .string(chat.rawValue), "content": "here"], first)
        #expect(sent?["type"] == "ok" && bob.heard() == ["here"])
        #expect(first.types == ["ready", "group_joined", "ok"] && first.cursors.isEmpty)
        _ = try await world.finish(first, because: nil)

        try await bob.say("meanwhile", in: chat)
        let second = try await world.start()
        #expect(second.contents == ["meanwhile"], "events must arrive before `hello`, after those written earlier")

        let (other, _, _) = try await ProgramLab.make(seed: 3)
        let silent = try await other.start()
        try await other.lab.advance(by: .milliseconds(14_999))
        #expect(silent.types == ["ready"])
        try await other.lab.advance(by: .milliseconds(1))
        #expect(silent.types == ["ready", "group_joined"])
    }

    @Test func resendsUnacknowledgedEvents() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 4)
        let first = try await world.start()
        try await world.hello(first)
        for text in ["a", "b", "c"] { try await bob.say(text, in: chat) }
        #expect(first.cursors == [1, 2, 3, 4])
        #expect(try await world.command("ack", ["cursor": 1], first)?["type"] == "ok")
        #expect(try await world.command("ack", ["cursor": 3], first)?["type"] == "ok")
        #expect(try await world.command("ack", ["cursor": 3], first)?["type"] == "ok")
        #expect(try await world.command("ack", ["cursor": 5], first)?["code"] == "bad_cursor")
        #expect(try await world.command("ack", ["cursor": 0], first)?["code"] == "bad_cursor")
        #expect(try await world.finish(first, because: .ended).blamed?.cursor == 2)

        let second = try await world.start()
        try await world.hello(second)
        #expect(second.cursors == [2, 4] && second.contents == ["a", "c"])
        for cursor in [2, 4] as [Int64] { try await world.command("ack", ["cursor": .integer(cursor)], second) }

        world.account.crash()
        try await world.account.restart()
        let third = try await world.start()
        try await bob.say("d", in: chat)
        #expect(try await world.hello(third)?["result"]?["waiting"] == 1)
        #expect(third.cursors == [5] && third.contents == ["d"])
    }

    @Test func resendsEventsWrittenBeforeALateHello() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 5)
        let program = try await world.start()
        try await world.lab.advance(by: .seconds(16))
        try await bob.say("x", in: chat)
        #expect(program.contents == ["x"] && program.cursors.isEmpty)
        try await world.hello(program)
        #expect(program.contents == ["x", "x"] && program.cursors == [1, 2])
        _ = try await world.finish(program, because: nil)
        let next = try await world.start()
        try await world.lab.advance(by: .seconds(59))
        #expect(next.types == ["ready"], "the daemon must wait for `hello` from an acknowledging program")
        try await world.hello(next)
        #expect(next.cursors == [1, 2])
    }

    @Test func programFailingAtStartConsumesNothing() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 14)
        let first = try await world.start()
        try await world.command("send_typing", ["nostr_group_id": .string(chat.rawValue)], first)
        _ = try await world.finish(first, because: nil)
        try await bob.say("kept", in: chat)
        for _ in 0..<4 {
            let broken = try await world.start()
            #expect(broken.contents == ["kept"], "a program without `hello` must not consume events")
            #expect(try await world.finish(broken, because: .ended).blamed == nil)
        }
        let repaired = try await world.start()
        try await world.say("anything", repaired)
        try await world.command("send_typing", ["nostr_group_id": .string(chat.rawValue)], repaired)
        _ = try await world.finish(repaired, because: .ended)
        #expect(try await world.start().contents.isEmpty)
    }

    @Test func validatesHelloAndLimitsAcksToPrograms() async throws {
        let (world, _, _) = try await ProgramLab.make(seed: 6)
        let program = try await world.start()
        let both = try await world.command("hello", ["protocol": 2, "acks": true, "cursor": 0], program)
        #expect(both?["code"] == "bad_request")
        #expect(try await world.command("ack", ["cursor": 1], program)?["code"] == "bad_request")
        try await world.say("not json", program)
        try await world.say(#"["a"]"#, program)
        #expect(program.lines.allSatisfy { $0["code"] != "parse_error" })
        #expect(world.lab.logLines.filter { $0.contains("not commands") }.count == 1)
        #expect(try await world.command("sing", [:], program)?["code"] == "parse_error")

        let daemon = try await DaemonLab.make(seed: 6)
        #expect(try await daemon.failure("hello", ["protocol": 2, "acks": true]) == "bad_request")
        #expect(try await daemon.failure("ack", ["cursor": 1]) == "bad_request")
    }

    @Test func boundsEventsInFlight() async throws {
        var rules = ProgramRules(name: "test") { _, _ in }
        rules.openEvents = 2
        let (world, bob, chat) = try await ProgramLab.make(seed: 7, rules: rules)
        let program = try await world.start()
        try await world.hello(program)
        for text in ["a", "b", "c"] { try await bob.say(text, in: chat) }
        #expect(program.cursors == [1, 2])
        try await world.command("ack", ["cursor": 2], program)
        #expect(program.cursors == [1, 2, 3])
        try await world.command("ack", ["cursor": 1], program)
        #expect(program.cursors == [1, 2, 3, 4])
    }

    @Test func repeatedFailureMakesADeadLetter() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 8)
        try await bob.say("poison", in: chat)
        try await bob.say("fine", in: chat)
        for count in 1...3 {
            let program = try await world.start()
            try await world.hello(program)
            if count == 1 { try await world.command("ack", ["cursor": 1], program) }
            let report = try await world.finish(program, because: .ended)
            #expect(report.blamed?.cursor == 2 && report.blamed?.count == count)
        }
        #expect(world.lab.logLines.contains { $0.contains("dropped an event: dead letter") && $0.contains("cursor=2") })
        let program = try await world.start()
        try await world.hello(program)
        #expect(program.contents == ["fine"])
    }

    @Test func detectsProgramConsumingNothing() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 9)
        let program = try await world.start()
        try await world.hello(program)
        try await world.command("ack", ["cursor": 1], program)
        let engine = world.engine
        let stalled = Flag()
        Task(executorPreference: world.lab.executor) {
            if await engine.waitForStall(of: program.client, milliseconds: 10_000) == .consumesNothing { stalled.set() }
        }
        try await world.lab.advance(by: .seconds(60))
        #expect(!stalled.isSet, "an idle program must not count as stalled")
        try await bob.say("a", in: chat)
        try await bob.say("b", in: chat)
        try await world.lab.advance(by: .seconds(9))
        try await world.command("ack", ["cursor": 2], program)
        try await world.lab.advance(by: .seconds(9))
        #expect(!stalled.isSet, "a program that makes progress must not count as stalled")
        try await world.lab.advance(by: .seconds(1))
        #expect(stalled.isSet)
        #expect(try await world.finish(program, because: .stalled(.consumesNothing)).blamed?.cursor == 3)
    }

    @Test func unreadProgramDoesNotBlockTheAccount() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 10)
        let unread = try await world.start(limit: 100, reads: false)
        try await world.lab.advance(by: .seconds(16))
        for number in 0..<50 { try await bob.say("\(number)", in: chat) }
        #expect(world.account.store.inbox.isEmpty)
        #expect(try await world.finish(unread, because: .stalled(.consumesNothing)).blamed?.cursor == 1)
        let program = try await world.start()
        #expect(program.contents == (0..<50).map(String.init))
    }

    @Test func fullBacklogAppliesBackPressure() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 11, keptEvents: 70)
        for number in 0..<8 { try await bob.say("\(number)", in: chat) }
        #expect(world.account.store.inbox.count == 3, "the backlog must hold six events")
        let program = try await world.start()
        try await world.hello(program)
        try await world.command("ack", ["cursor": 1], program)
        #expect(world.account.store.inbox.count == 2)
        _ = try await world.finish(program, because: nil)
        await world.engine.endPrograms()
        try await world.lab.settle()
        #expect(world.account.store.inbox.isEmpty)
        #expect(world.lab.logLines.filter { $0.contains("program_full") }.count == 2)
        let next = try await world.start()
        try await world.hello(next)
        #expect(next.contents == (0..<6).map(String.init))
    }

    @Test func gateDecidesOnAllButLifecycleCommands() async throws {
        let rules = ProgramRules(name: "test") { command, name throws(DaemonFailure) in
            throw DaemonFailure(.notAllowed, "\(name) \(command.groupReference ?? "-")")
        }
        let (world, _, chat) = try await ProgramLab.make(seed: 12, rules: rules)
        let program = try await world.start()
        #expect(try await world.hello(program)?["type"] == "ok")
        #expect(try await world.command("ack", ["cursor": 1], program)?["type"] == "ok")
        let refused = try await world.command("send_typing", ["nostr_group_id": .string(chat.rawValue)], program)
        #expect(refused?["code"] == "not_allowed" && refused?["message"]?.string == "send_typing \(chat)")
        #expect(try await world.command("set_relays", ["relays": []], program)?["code"] == "not_allowed")
        #expect(try await world.command("shutdown", [:], program)?["type"] == "ok")
    }

    @Test func shutdownEndsOnlyTheProgram() async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 13)
        let program = try await world.start()
        try await world.hello(program)
        #expect(try await world.command("shutdown", [:], program)?["type"] == "ok")
        #expect(program.client.lines.isClosed)
        let report = try await world.finish(program, because: .ended)
        #expect(report.isShutDown && report.blamed == nil)
        try await bob.say("still", in: chat)
        let next = try await world.start()
        try await world.hello(next)
        #expect(next.contents == ["still"])
    }

    /// Across crashes, the program consumes each message once and its answers are sent once.
    @Test(arguments: [0, 1, 2]) func sendsAnswersOnceAcrossCrashes(seed: UInt64) async throws {
        let (world, bob, chat) = try await ProgramLab.make(seed: 20 + seed)
        var generator = SeededGenerator(seed: seed, stream: "kills")
        for number in 0..<12 {
            world.account.crash(
                .before(commit: world.account.store.commitCount + Int.random(in: 1...9, using: &generator)))
            try await bob.say("\(number)", in: chat)
            repeat {
                if world.account.hasCrashed { try await world.account.restart() }
                try await answerAll(world, chat)
            } while world.account.hasCrashed
        }
        try await answerAll(world, chat)
        #expect(bob.heard().sorted() == (0..<12).map { "re \($0)" }.sorted())
    }

    private func answerAll(_ world: ProgramLab, _ chat: ChatID) async throws {
        let program = try await world.start()
        try await world.hello(program)
        for line in program.lines where line["cursor"] != nil {
            if let text = line["content"]?.string, let id = line["message_id"]?.string {
                try await world.command(
                    "send_message",
                    [
                        "nostr_group_id": .string(chat.rawValue), "content": .string("re \(text)"),
                        "idempotency_key": .string(id),
                    ], program)
            }
            try await world.command("ack", ["cursor": line["cursor"] ?? .null], program)
        }
        if !world.account.hasCrashed { _ = try await world.finish(program, because: nil) }
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}
