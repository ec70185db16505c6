import LoadReport
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import Load

struct FleetMonitorTests {
    private let monitor: FleetMonitor
    private let keys: [PublicKey]

    init() {
        var generator = SystemRandomNumberGenerator()
        keys = (0..<4).map { _ in KeyPair.generate(using: &generator).publicKey }
        monitor = FleetMonitor(
            recorder: LoadRecorder(), timeline: Timeline(),
            indexes: Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($0.element, $0.offset) }))
    }

    private var result: LoadResult {
        let host = HostFacts(
            name: "", processor: "", processors: 1, memoryBytes: 1, system: "", kernel: "", compiler: "", build: "")
        let run = LoadRun(
            name: "", seed: 1, plan: "", startedAt: WallTime(unixMilliseconds: 0),
            environment: LoadEnvironment(host: host, software: "", store: "", relays: []), stages: [])
        let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
        return monitor.recorder.result(run, cost: usage, at: .seconds(1))
    }

    private func id(_ number: UInt8) throws -> EventID {
        try EventID(hex: String(repeating: "0", count: 62) + (number < 16 ? "0" : "") + String(number, radix: 16))
    }

    private func createGroup(_ group: Int, by founder: Int, inviting agents: [Int]) {
        monitor.planGroup(group, founder: founder)
        monitor.beginJoins(agents, to: group)
        monitor.beginAddition(of: agents + [founder], to: group)
    }

    private var reached: [Int] { result.funnel.stages.map(\.count) }

    // MARK: Joins

    @Test func recordsJoinReportedBeforeFounding() throws {
        createGroup(0, by: 0, inviting: [1])
        monitor.joined(1, "chat", .seconds(1_000))
        #expect(monitor.pendingJoins == 1)
        monitor.groupCreated(0, by: 0, chatID: "chat")
        let join = try #require(result.operation(.join)?.latency)
        #expect(join.samples == 1 && join.max > 900)
        #expect(reached == [1, 1, 1, 1, 1, 0])
    }

    @Test func assignsEachGiftWrapToOneJoin() throws {
        createGroup(0, by: 0, inviting: [2])
        createGroup(1, by: 1, inviting: [2])
        let (first, second) = (try id(1), try id(2))
        monitor.wrapSent(first, by: 1, to: keys[2], .seconds(1))
        monitor.wrapSeen(second, by: 2, .seconds(2))
        monitor.wrapSeen(first, by: 3, .seconds(2))
        #expect(reached == [2, 0, 0, 0, 0, 0])
        for _ in 0..<2 {
            monitor.wrapSeen(first, by: 2, .seconds(2))
            monitor.wrapSent(first, by: 1, to: keys[2], .seconds(3))
        }
        #expect(reached == [2, 1, 1, 1, 0, 0])
        monitor.wrapSent(second, by: 0, to: keys[2], .seconds(1))
        monitor.wrapSeen(second, by: 2, .seconds(5))
        #expect(reached == [2, 2, 2, 2, 0, 0])
        let welcome = try #require(result.operation(.welcomeSeen)?.latency)
        #expect((welcome.samples, welcome.min, welcome.max) == (2, 1, 4))
    }

    @Test func oneFoundersGiftWrapsFillTwoJoins() throws {
        createGroup(0, by: 0, inviting: [2])
        createGroup(1, by: 0, inviting: [2])
        for number in [UInt8(1), 2] {
            monitor.wrapSent(try id(number), by: 0, to: keys[2], .seconds(1))
            monitor.wrapSeen(try id(number), by: 2, .seconds(2))
        }
        #expect(reached == [2, 2, 2, 2, 0, 0])
    }

    /// The member was added again after the first commit lost a race.
    @Test func repeatedInvitationIsOneWelcome() throws {
        createGroup(0, by: 0, inviting: [2])
        for number in [UInt8(1), 2] { monitor.wrapSent(try id(number), by: 0, to: keys[2], .seconds(Int(number))) }
        monitor.wrapSeen(try id(2), by: 2, .seconds(5))
        monitor.wrapSeen(try id(1), by: 2, .seconds(6))
        #expect(result.operation(.welcomeSeen)?.latency?.max == 3)
        #expect(reached == [1, 1, 1, 1, 0, 0])
    }

    @Test func lostJoinsCountAtTheirStage() throws {
        createGroup(0, by: 0, inviting: [1, 2, 3])
        monitor.failJoin(1, of: 0, reason: "a")
        monitor.reached(.keyPackage, [1, 2], of: 0)
        monitor.failJoin(2, of: 0, reason: "b")
        monitor.failJoin(2, of: 0, reason: "again")
        monitor.reached(.added, [1, 2, 3], of: 0)
        monitor.giveUpJoins()
        #expect(reached == [3, 2, 1, 0, 0, 0])
        #expect(
            result.funnel.stages.map { $0.lost.map(\.reason) } == [[], ["a"], ["b"], ["no welcome in time"], [], []])
        #expect(result.operation(.join)?.failures == 3)
    }

    // MARK: Messages

    /// Sends a message from agent 0 to agent 1; `ends` counts completions.
    private func send(_ message: EventID, _ ends: Counter) throws {
        let (stamp, times) = try #require(monitor.beginSend(0, to: 0, intended: nil))
        monitor.queued(
            message,
            PendingSend(group: 0, stamp: stamp, times: times, thinking: nil, done: { ends.value.withLock { $0 += 1 } }))
    }

    private final class Counter: Sendable {
        let value = Mutex(0)
    }

    private func createJoinedGroup() {
        createGroup(0, by: 0, inviting: [1])
        monitor.groupCreated(0, by: 0, chatID: "chat")
        monitor.joined(1, "chat", .zero)
    }

    @Test func queuedMessageSurvivesRestart() throws {
        createJoinedGroup()
        let ends = Counter()
        monitor.beginRun(0)
        try send(try id(1), ends)
        monitor.beginRun(1)
        #expect(ends.value.withLock { $0 } == 0)
        monitor.beginRun(0)
        #expect(ends.value.withLock { $0 } == 1)
        #expect(monitor.pendingSends == 1)
        monitor.delivered(try id(1), .sent, .seconds(5))
        #expect(monitor.pendingSends == 0)
        let operation = try #require(result.operation(.send))
        #expect((operation.count, operation.failures) == (1, 0))
    }

    /// The agent was restarted after the relay's answer and before its report.
    @Test func deliveredMessageNeedsNoAnswer() throws {
        createJoinedGroup()
        monitor.beginRun(0)
        try send(try id(1), Counter())
        monitor.beginRun(0)
        #expect(monitor.pendingSends == 1)
        _ = monitor.state.withLock { $0.groups[0]?.received(MessageStamp(sender: 0, sequence: 0), by: 1) }
        #expect((monitor.pendingSends, monitor.outstanding) == (0, 0))
        monitor.giveUpSends()
        #expect(
            result.operation(.send)?.failureReasons.map(\.reason) == [
                "sender ended before a relay's answer was reported"
            ])
    }

    /// Its branch lost after a relay had accepted it.
    @Test func lostMessageExcusesItsDeliveries() throws {
        createJoinedGroup()
        try send(try id(1), Counter())
        monitor.delivered(try id(1), .sent, .seconds(1))
        monitor.delivered(try id(1), .failed("blocked: spam"), .seconds(2))
        #expect(monitor.outstanding == 1)
        for _ in 0..<2 { monitor.delivered(try id(1), .failed("withdrawn/files_lost: x"), .seconds(3)) }
        #expect(monitor.outstanding == 0)
        // The failure ends when the branch wins after all.
        monitor.delivered(try id(1), .sent, .seconds(4))
        let early = monitor.state.withLock { $0.earlyDeliveries.count }
        #expect(monitor.outstanding == 0 && early == 0)
        #expect((result.correctness.expected, result.correctness.excused) == (0, 1))
        let operation = try #require(result.operation(.send))
        #expect((operation.count, operation.failures) == (1, 0))
    }

    @Test func unansweredMessageFailsButStaysExpected() throws {
        createJoinedGroup()
        let ends = Counter()
        try send(try id(1), ends)
        monitor.giveUpSends()
        #expect(ends.value.withLock { $0 } == 1)
        #expect((monitor.pendingSends, monitor.outstanding) == (0, 1))
        #expect(result.operation(.send)?.failureReasons.map(\.reason) == ["no relay answered in time"])
        #expect(result.correctness.expected == 1)
    }

    @Test func leavingExcusesUnsentMessages() throws {
        createJoinedGroup()
        let ends = Counter()
        try send(try id(1), ends)
        monitor.beginLeave(0, 1)
        #expect(ends.value.withLock { $0 } == 0)
        monitor.beginLeave(0, 0)
        #expect(ends.value.withLock { $0 } == 1)
        #expect(monitor.outstanding == 0)
        #expect((result.correctness.expected, result.correctness.excused) == (0, 1))
        #expect(monitor.beginSend(0, to: 0, intended: nil) == nil)
        #expect(!monitor.isMember(0, of: 0) && monitor.isMember(1, of: 0))
    }
}
