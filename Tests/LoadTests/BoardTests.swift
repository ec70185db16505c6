import LoadReport
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import Load

/// What the board makes of what agents tell.
struct BoardTests {
    private let board: Board
    private let keys: [PublicKey]

    init() {
        var generator = SystemRandomNumberGenerator()
        keys = (0..<4).map { _ in KeyPair.generate(using: &generator).publicKey }
        board = Board(
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
        return board.recorder.result(run, cost: usage, at: .seconds(1))
    }

    private func id(_ number: UInt8) throws -> EventID {
        try EventID(hex: String(repeating: "0", count: 62) + (number < 16 ? "0" : "") + String(number, radix: 16))
    }

    private func found(_ group: Int, by founder: Int, inviting agents: [Int]) {
        board.plans(group, founder: founder)
        board.invites(agents, to: group)
    }

    private var reached: [Int] { result.funnel.stages.map(\.count) }

    // MARK: Joins

    @Test func aJoinIsOverWhenItWasTold() throws {
        found(0, by: 0, inviting: [1])
        board.joined(1, "chat", .seconds(1_000))
        #expect(board.pendingJoins == 1)
        board.founded(0, by: 0, chatID: "chat")
        let join = try #require(result.operation(.join)?.latency)
        #expect(join.samples == 1 && join.max > 900)
        #expect(reached == [1, 1, 1, 1, 1, 0])
    }

    @Test func aGiftWrapIsOfOneGroupAndCountsOnce() throws {
        found(0, by: 0, inviting: [2])
        found(1, by: 1, inviting: [2])
        let (first, second) = (try id(1), try id(2))
        board.wrapSent(first, by: 1, to: keys[2], .seconds(1))
        board.wrapSeen(second, by: 2, .seconds(2))
        board.wrapSeen(first, by: 3, .seconds(2))
        #expect(reached == [2, 0, 0, 0, 0, 0])
        for _ in 0..<2 {
            board.wrapSeen(first, by: 2, .seconds(2))
            board.wrapSent(first, by: 1, to: keys[2], .seconds(3))
        }
        #expect(reached == [2, 1, 1, 1, 0, 0])
        board.wrapSent(second, by: 0, to: keys[2], .seconds(1))
        board.wrapSeen(second, by: 2, .seconds(5))
        #expect(reached == [2, 2, 2, 2, 0, 0])
        let welcome = try #require(result.operation(.welcomeSeen)?.latency)
        #expect((welcome.samples, welcome.min, welcome.max) == (2, 1, 4))
    }

    @Test func twoGiftWrapsOfOneFounderAreOfTwoGroups() throws {
        found(0, by: 0, inviting: [2])
        found(1, by: 0, inviting: [2])
        for number in [UInt8(1), 2] {
            board.wrapSent(try id(number), by: 0, to: keys[2], .seconds(1))
            board.wrapSeen(try id(number), by: 2, .seconds(2))
        }
        #expect(reached == [2, 2, 2, 2, 0, 0])
    }

    /// It was added anew, as its first commit lost a race.
    @Test func aSecondGiftWrapOfOneInvitationIsNoSecondWelcome() throws {
        found(0, by: 0, inviting: [2])
        for number in [UInt8(1), 2] { board.wrapSent(try id(number), by: 0, to: keys[2], .seconds(Int(number))) }
        board.wrapSeen(try id(2), by: 2, .seconds(5))
        board.wrapSeen(try id(1), by: 2, .seconds(6))
        #expect(result.operation(.welcomeSeen)?.latency?.max == 3)
        #expect(reached == [1, 1, 1, 1, 0, 0])
    }

    @Test func whoIsLostIsMissingWhereItDidNotArrive() throws {
        found(0, by: 0, inviting: [1, 2, 3])
        board.lose(1, of: 0, reason: "a")
        board.reached(.keyPackage, [1, 2], of: 0)
        board.lose(2, of: 0, reason: "b")
        board.lose(2, of: 0, reason: "again")
        board.reached(.added, [1, 2, 3], of: 0)
        board.giveUpJoins()
        #expect(reached == [3, 2, 1, 0, 0, 0])
        #expect(
            result.funnel.stages.map { $0.lost.map(\.reason) } == [[], ["a"], ["b"], ["no welcome in time"], [], []])
        #expect(result.operation(.join)?.failures == 3)
    }

    // MARK: Messages

    /// A message of agent 0 to agent 1; counts how often its sender is told not to wait.
    private func send(_ message: EventID, _ ends: Counter) throws {
        let (stamp, times) = try #require(board.sends(0, to: 0, intended: nil))
        board.queued(
            message,
            PendingSend(group: 0, stamp: stamp, times: times, thinking: nil, done: { ends.value.withLock { $0 += 1 } }))
    }

    private final class Counter: Sendable {
        let value = Mutex(0)
    }

    private func foundGroup() {
        found(0, by: 0, inviting: [1])
        board.founded(0, by: 0, chatID: "chat")
        board.joined(1, "chat", .zero)
    }

    @Test func whatIsQueuedBeforeARestartGoesOutAfterIt() throws {
        foundGroup()
        let ends = Counter()
        board.starts(0)
        try send(try id(1), ends)
        board.starts(1)
        #expect(ends.value.withLock { $0 } == 0)
        board.starts(0)
        #expect(ends.value.withLock { $0 } == 1)
        #expect(board.pendingSends == 1)
        board.delivered(try id(1), .sent, .seconds(5))
        #expect(board.pendingSends == 0)
        let operation = try #require(result.operation(.send))
        #expect((operation.count, operation.failures) == (1, 0))
    }

    /// The life ended between the relay's answer and its telling.
    @Test func anAnswerThatWentWithALifeIsNotWaitedForOnceEverybodyHasTheMessage() throws {
        foundGroup()
        board.starts(0)
        try send(try id(1), Counter())
        board.starts(0)
        #expect(board.pendingSends == 1)
        _ = board.state.withLock { $0.groups[0]?.received(MessageStamp(sender: 0, sequence: 0), by: 1) }
        #expect((board.pendingSends, board.outstanding) == (0, 0))
        board.giveUpSends()
        #expect(
            result.operation(.send)?.failureReasons.map(\.reason) == ["cut off before a relay's answer was told"])
    }

    @Test func whatNoRelayHasAtTheEndFailedAndIsStillOwed() throws {
        foundGroup()
        let ends = Counter()
        try send(try id(1), ends)
        board.giveUpSends()
        #expect(ends.value.withLock { $0 } == 1)
        #expect((board.pendingSends, board.outstanding) == (0, 1))
        #expect(result.operation(.send)?.failureReasons.map(\.reason) == ["no relay's answer in time"])
        #expect(result.correctness.expected == 1)
    }

    @Test func whoLeavesDoesNotSendAndOwesNothingUnsent() throws {
        foundGroup()
        let ends = Counter()
        try send(try id(1), ends)
        board.leaves(0, 1)
        #expect(ends.value.withLock { $0 } == 0)
        board.leaves(0, 0)
        #expect(ends.value.withLock { $0 } == 1)
        #expect(board.outstanding == 0)
        #expect((result.correctness.expected, result.correctness.excused) == (0, 1))
        #expect(board.sends(0, to: 0, intended: nil) == nil)
        #expect(!board.isMember(0, of: 0) && board.isMember(1, of: 0))
    }
}
