import Foundation
import Logging
import Nostr
import Synchronization

/// The line from the supervisor: questions on standard input, answers among the lines of standard output.
///
/// A thread of its own reads, since reading blocks; it ends with the input or the process. (libdispatch's read sources
/// on Linux crash when one is cancelled after its peer has hung up.)
final class SupervisorChannel: Sendable {
    private struct State {
        var requests = WorkerRequests()
        var active = 0
        var hasEnded = false
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    /// Bytes of a question: a whole configuration fits.
    private static let longestLine = 4 << 20
    /// Questions answered at the same time.
    private static let width = 16

    private let descriptor: Int32
    private let write: @Sendable (String) -> Void
    private let logger: Logger
    private let state = Mutex(State())

    init(descriptor: Int32 = STDIN_FILENO, write: @escaping @Sendable (String) -> Void, logger: Logger) {
        self.descriptor = descriptor
        self.write = write
        self.logger = logger
    }

    /// What can be asked from now on.
    func install(_ requests: WorkerRequests) { state.withLock { $0.requests = requests } }

    /// Answers until the input ends or the task is cancelled; may be called once.
    func serve() async {
        let (lines, continuation) = AsyncStream.makeStream(of: InputLine.self)
        let room = DispatchSemaphore(value: Self.width)
        let descriptor = descriptor
        Thread.detachNewThread {
            InputLine.readAll(of: descriptor, limit: Self.longestLine) { line in
                room.wait()
                continuation.yield(line)
            }
            continuation.finish()
        }
        await withDiscardingTaskGroup { group in
            for await line in lines {
                room.signal()
                guard let question = question(in: line) else { continue }
                guard begin() else {
                    refuse(question.id, "too many questions at once")
                    continue
                }
                group.addTask { await self.answer(question) }
            }
            end()
            group.cancelAll()
        }
        // A reader that was left behind must not wait for ever.
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
    }

    private func question(in line: InputLine) -> Question? {
        guard case .text(let bytes) = line, let body = try? JSONValue(json: bytes), let id = body["id"]?.integer,
            let name = body["ask"]?.string
        else {
            logger.warning("A line from the supervisor is no question")
            return nil
        }
        return Question(name: name, id: id, body: body)
    }

    private func begin() -> Bool {
        state.withLock { state in
            guard state.active < Self.width else { return false }
            state.active += 1
            return true
        }
    }

    private func answer(_ question: Question) async {
        defer { state.withLock { $0.active -= 1 } }
        guard let answer = state.withLock({ $0.requests[question.name] }) else {
            return refuse(question.id, "this worker cannot be asked \"\(question.name.prefix(40))\" now")
        }
        do {
            let result = try await answer(question.body)
            write(JSONValue.object(["answer": .integer(question.id), "result": result]).jsonText)
        } catch {
            refuse(question.id, String(describing: error))
        }
    }

    private func refuse(_ id: Int64, _ reason: String) {
        write(JSONValue.object(["answer": .integer(id), "error": .string(reason)]).jsonText)
    }
}
