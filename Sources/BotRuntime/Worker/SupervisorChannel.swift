import Foundation
import Logging
import Nostr
import PikaCore
import ProcessSupport
import Synchronization

/// The channel from the supervisor: questions on standard input, answers among the lines of standard output.
///
/// A separate thread does the blocking reads; it ends with the input or the process. (libdispatch's read sources on
/// Linux crash when one is cancelled after its peer has hung up.)
final class SupervisorChannel: Sendable {
    /// Health checks have their own quota, so that other questions cannot starve them.
    private enum Kind: Hashable {
        case healthCheck
        case named(String)

        /// The maximum number of questions of this kind that are answered concurrently.
        var maximumActive: Int { self == .healthCheck ? 4 : 16 }
    }

    private struct State {
        var requests = WorkerRequests()
        var active: [Kind: Int] = [:]
        var hasEnded = false
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    /// The maximum length of a question in bytes; large enough for a whole configuration.
    private static let maximumLineBytes = 4 << 20
    /// The maximum number of lines that are read ahead.
    private static let readAhead = 16
    /// The minimum deadline of an answer, whatever the supervisor's patience is.
    static let shortestLimit = Duration.seconds(30)

    private let descriptor: Int32
    private let limit: Duration
    private let clock: any CoreClock
    private let write: @Sendable (String) -> Void
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter limit: The deadline of an answer, after which the question is dropped and frees its slot.
    init(
        descriptor: Int32 = STDIN_FILENO, limit: Duration = shortestLimit, clock: any CoreClock = SystemClock(),
        write: @escaping @Sendable (String) -> Void, logger: Logger
    ) {
        self.descriptor = descriptor
        self.limit = limit
        self.clock = clock
        self.write = write
        self.logger = logger
    }

    /// Replaces the questions that are answered.
    func install(_ requests: WorkerRequests) { state.withLock { $0.requests = requests } }

    /// Answers until the input ends or the task is cancelled; may be called once.
    func serve() async {
        let (lines, continuation) = AsyncStream.makeStream(of: LineAssembler.Piece.self)
        // Raised from zero: releasing a semaphore below its initial value traps, and an abandoned reader leaves it low.
        let room = DispatchSemaphore(value: 0)
        for _ in 0..<Self.readAhead { room.signal() }
        let descriptor = descriptor
        Thread.detachNewThread {
            LineAssembler.readLines(of: descriptor, limit: Self.maximumLineBytes) { line in
                room.wait()
                continuation.yield(line)
            }
            continuation.finish()
        }
        await withDiscardingTaskGroup { group in
            for await line in lines {
                room.signal()
                guard let question = question(in: line) else { continue }
                guard begin(question.kind) else {
                    refuse(question.id, "too many concurrent questions")
                    continue
                }
                group.addTask { await self.answer(question) }
            }
            end()
            group.cancelAll()
        }
        // Unblocks an abandoned reader.
        room.signal()
    }

    /// Whether the supervisor is gone.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Returns when the input has ended, or the task is cancelled.
    func waitForEnd() async {
        let (end, reached) = AsyncStream.makeStream(of: Never.self)
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.waiters.append(reached) }
            return state.hasEnded
        }
        if hasEnded { return }
        for await _ in end {}
    }

    private func end() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }
}

// MARK: Questions

extension SupervisorChannel {
    private struct Question {
        let name: String
        let id: Int64
        let body: JSONValue

        var kind: Kind { body["signOfLife"]?.bool == true ? .healthCheck : .named(name) }
    }

    private enum Outcome {
        case answered(JSONValue)
        case refused(String)
        case timedOut
        case cancelled
    }

    private func question(in line: LineAssembler.Piece) -> Question? {
        guard case .line(let bytes) = line, let body = try? JSONValue(json: bytes), let id = body["id"]?.integer,
            let name = body["ask"]?.string
        else {
            logger.warning("Ignored an invalid line from the supervisor")
            return nil
        }
        return Question(name: name, id: id, body: body)
    }

    private func begin(_ kind: Kind) -> Bool {
        state.withLock { state in
            guard state.active[kind, default: 0] < kind.maximumActive else { return false }
            state.active[kind, default: 0] += 1
            return true
        }
    }

    private func end(_ kind: Kind) {
        state.withLock { state in
            let left = state.active[kind, default: 0] - 1
            // The supervisor chooses the names, so entries are removed when idle; otherwise they could accumulate.
            state.active[kind] = left > 0 ? left : nil
        }
    }

    /// Answers a question under the deadline. At the deadline the question is refused and frees its slot, even if the
    /// answer cannot be cancelled.
    private func answer(_ question: Question) async {
        await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await self.outcome(of: question) }
            group.addTask {
                let end = self.clock.nowMilliseconds + Int64(self.limit / .milliseconds(1))
                return (try? await self.clock.sleep(untilMilliseconds: end)) == nil ? .cancelled : .timedOut
            }
            for await outcome in group {
                switch outcome {
                case .answered(let result):
                    write(JSONValue.object(["answer": .integer(question.id), "result": result]).jsonText)
                case .refused(let reason): refuse(question.id, reason)
                case .timedOut: refuse(question.id, "no answer within \(limit)")
                case .cancelled: continue
                }
                end(question.kind)
                return group.cancelAll()
            }
        }
    }

    private func outcome(of question: Question) async -> Outcome {
        guard let answer = state.withLock({ $0.requests[question.name] }) else {
            return .refused("this worker cannot answer \"\(question.name.prefix(40))\" now")
        }
        do { return .answered(try await answer(question.body)) } catch { return .refused(String(describing: error)) }
    }

    private func refuse(_ id: Int64, _ reason: String) {
        write(JSONValue.object(["answer": .integer(id), "error": .string(reason)]).jsonText)
    }
}
