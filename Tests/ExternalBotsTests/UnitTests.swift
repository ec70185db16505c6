import BotDispatch
import BotKit
import Foundation
import LiveTesting
import PikaCore
import Testing

@testable import ExternalBots

@Suite(.bounded) struct UnitTests {
    @Test func passesOnlyListedAndInheritedVariables() {
        let worker = ["PATH": "/bin", "HOME": "/home", "LANG": "C", "SECRET": "x", "PYTHONPATH": "/evil"]
        #expect(
            ProgramEnvironment.make(listed: ["LANG": "de", "A": "1"], from: worker)
                == ["PATH": "/bin", "HOME": "/home", "LANG": "de", "A": "1"])
        #expect(ProgramEnvironment.make(listed: [:], from: [:]) == ["PATH": "/usr/local/bin:/usr/bin:/bin"])
    }

    @Test func truncatesLongDiagnosticLines() {
        var lines = DiagnosticLines()
        let long = String(repeating: "a", count: DiagnosticLines.maximumLineLength)
        #expect(lines.append("\(long)\n\(long)b\n\r\nend\r\nrest".utf8, now: 0) == [long, long + "…", "end"])
        #expect(lines.finish(now: 0) == "rest" && lines.finish(now: 0) == nil)
    }

    @Test func countsDroppedDiagnosticLines() {
        var lines = DiagnosticLines()
        let flood = String(repeating: "x\n", count: 60)
        #expect(lines.append(flood.utf8, now: 5_000).count == 50)
        #expect(lines.drainDropped(now: 5_999) == 0, "nothing may be reported before the second ends")
        #expect(lines.drainDropped(now: 6_000) == 10 && lines.drainDropped(now: 7_000) == 0)
        #expect(lines.append("y\n".utf8, now: 6_000) == ["y"])
    }

    @Test func sendingIsRateLimitedAfterBurst() {
        let limiter = SendRateLimiter(burst: 3, perSecond: 2, clock: SystemClock())  // not live: never asked
        let now = SystemClock().nowMilliseconds + 1000  // not live: an origin of computed times
        #expect((0..<3).map { _ in limiter.reserve(at: now) } == [0, 0, 0])
        #expect((0..<2).map { _ in limiter.reserve(at: now) } == [500, 1000])
        #expect(limiter.reserve(at: now + 1500) == 0)
        #expect(limiter.reserve(at: now + 100_000) == 0)
    }

    @Test func externalBotsCannotBeUsedByName() {
        #expect(throws: ExternalBotError.self) { try ExternalBot(settings: .object([:])) }
    }

    @Test func hidesGroupsOutsideItsScope() throws {
        let account = FakeAccount()
        let policy = BotPolicy(groups: GroupPolicy(.none, exceptions: [FakeAccount.group: .mention]))
        let program = ExternalBotProgram(command: ["x"], directory: "/")
        let bot = ExternalBot(label: "x", program: program, policy: policy)
        let handler = try #require(bot.handlers.first)
        let accepted = try [FakeAccount.group, FakeAccount.otherGroup, FakeAccount.direct].map { chatID in
            let scope = EventScope(
                chatID: chatID, account: account.account, accountName: "x", snapshot: account.state)
            return handler.accept(.event(try account.message("x", in: chatID)), scope) != nil
        }
        #expect(accepted == [true, false, true])
    }

    @Test func receivesOutcomesOutsideItsScope() throws {
        let account = FakeAccount()
        let program = ExternalBotProgram(command: ["x"], directory: "/")
        let bot = ExternalBot(label: "x", program: program, policy: BotPolicy(groups: GroupPolicy(.none)))
        let handler = try #require(bot.handlers.first)
        let action = ActionID(rawValue: "x/command-1")
        for chatID in [FakeAccount.group, ""] {
            let scope = EventScope(
                chatID: chatID, account: account.account, accountName: "x", snapshot: account.state)
            let event = account.outcome(action, .done, in: chatID)
            #expect(handler.accept(.event(event), scope) != nil)
        }
    }

    @Test func cancelledDeliveryIsNotRecorded() async throws {
        let intake = EventIntake()
        let event = try FakeAccount().message("x")
        let task = Task { try await intake.deliver(event) }
        for await _ in intake.events { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        intake.complete(event.inboxID)
        #expect(intake.newest == event.inboxID)
    }

    @Test func cancelledDeliveryLeavesNoState() async throws {
        let intake = EventIntake()
        let account = FakeAccount()
        for number in 0..<10 {
            let event = try account.message("\(number)")
            let task = Task { try await intake.deliver(event) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(intake.count == 0)
        let reader = Task { for await _ in intake.events {} }
        reader.cancel()
        await reader.value
    }
}
