import Synchronization

/// Bounded queue of lines for one reader.
///
/// A slow reader is dropped when the queue is full, after a last line that gives the reason. A reader that must not be
/// dropped gets its lines by ``put(_:)``, which makes the writers wait.
package final class LineQueue: Sendable {
    /// `inFlight` was handed to the writer; it is known to be written when the writer asks for the next lines.
    private struct State {
        var lines: [String] = []
        /// Bytes of the queued lines that count against the bound.
        var bytes = 0
        /// Whether one queued line is longer than the bound; that line does not count.
        var hasLong = false
        var accepted = 0
        var written = 0
        var inFlight = 0
        var isClosed = false
        var reader: CheckedContinuation<[String]?, Never>?
        var waiters: [Waiter] = []
    }

    private struct Waiter {
        enum Condition {
            case room(for: Int)
            case written(Int)
            case end
        }

        let condition: Condition
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// Bytes that the writer gets at a time, unless one line is longer.
    private static let batchBytes = 65_536

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: maximum number of bytes queued, besides those being written. A single line may be longer.
    package init(limit: Int) {
        self.limit = limit
    }

    package var isClosed: Bool { self.state.withLock { $0.isClosed } }

    /// Appends a line if there is room. Otherwise drops the reader: discards the queued lines, appends `farewell` as
    /// the last one, and closes the queue. Returns false if the line was not appended.
    func offer(_ line: String, farewell: @autoclosure () -> String) -> Bool {
        self.change { state in
            guard !state.isClosed else { return false }
            guard self.hasRoom(for: line.utf8.count, state) else {
                state.lines = [farewell()]
                state.bytes = 0
                state.hasLong = false
                state.isClosed = true
                return false
            }
            self.append(line, &state)
            return true
        }
    }

    /// Appends a line if there is room; otherwise discards it.
    func offer(_ line: String) {
        self.change { state in
            guard !state.isClosed, self.hasRoom(for: line.utf8.count, state) else { return }
            self.append(line, &state)
        }
    }

    /// Appends a line as soon as there is room; returns false if the queue was closed.
    @discardableResult
    package func put(_ line: String) async -> Bool {
        while true {
            if let isAccepted = self.putNow(line) { return isAccepted }
            guard await self.wait({ _ in .room(for: line.utf8.count) }) else { return false }
        }
    }

    /// Appends a line if there is room. Returns nil if the queue is full, and false if it was closed.
    func putNow(_ line: String) -> Bool? {
        self.change { state in
            guard !state.isClosed else { return false }
            guard self.hasRoom(for: line.utf8.count, state) else { return nil }
            self.append(line, &state)
            return true
        }
    }

    /// Waits until every line accepted so far is written; returns false if that will never happen.
    func flush() async -> Bool { await self.wait { .written($0.accepted) } }

    func waitUntilClosed() async { _ = await self.wait { _ in .end } }

    /// Whether the queue is closed and everything in it is written.
    var isDone: Bool { self.state.withLock { $0.isClosed && $0.lines.isEmpty && $0.inFlight == 0 } }

    /// Returns the next lines to write; nil at the end. Calling it confirms that the previous lines are written.
    package func next() async -> [String]? {
        await withCheckedContinuation { continuation in
            let result: [String]?? = self.change { state in
                state.written += state.inFlight
                state.inFlight = 0
                if let batch = self.dequeue(&state) { return .some(batch) }
                if state.isClosed { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// Closes the queue for new lines. Queued lines may still be written, unless `dropping` says that the writer has
    /// failed.
    package func close(dropping: Bool = false) {
        self.change { state in
            state.isClosed = true
            if dropping {
                state.lines = []
                state.inFlight = 0
            }
        }
    }

    // MARK: State

    /// Returns whether the line fits. A line longer than the bound is accepted while no other one is queued, so that a
    /// reader gets replies of any length.
    private func hasRoom(for count: Int, _ state: State) -> Bool {
        count > self.limit ? !state.hasLong : state.bytes + count <= self.limit
    }

    private func append(_ line: String, _ state: inout State) {
        let count = line.utf8.count
        state.lines.append(line)
        if count > self.limit { state.hasLong = true } else { state.bytes += count }
        state.accepted += 1
    }

    /// Dequeues a batch rather than everything, so that waiting writers see that a slow reader makes progress.
    private func dequeue(_ state: inout State) -> [String]? {
        guard !state.lines.isEmpty else { return nil }
        var count = 0
        var bytes = 0
        for line in state.lines {
            let length = line.utf8.count
            guard count == 0 || bytes + length <= Self.batchBytes else { break }
            count += 1
            bytes += length
            if length > self.limit { state.hasLong = false } else { state.bytes -= length }
        }
        state.inFlight = count
        defer { state.lines.removeFirst(count) }
        return Array(state.lines[..<count])
    }

    private func wait(_ condition: @escaping @Sendable (State) -> Waiter.Condition) async -> Bool {
        await withCheckedContinuation { continuation in
            self.change { state in
                state.waiters.append(Waiter(condition: condition(state), continuation: continuation))
            }
        }
    }

    /// Returns the result for a waiter; nil while it must keep waiting.
    private func answer(_ condition: Waiter.Condition, _ state: State) -> Bool? {
        switch condition {
        case .end: state.isClosed ? true : nil
        case .room(let count): state.isClosed ? false : self.hasRoom(for: count, state) ? true : nil
        case .written(let count):
            state.written >= count
                ? true : state.isClosed && state.lines.isEmpty && state.inFlight == 0 ? false : nil
        }
    }

    /// Changes the state, and resumes the waiters whose condition now holds.
    @discardableResult
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        var resumptions: [(CheckedContinuation<Bool, Never>, Bool)] = []
        var reading: (CheckedContinuation<[String]?, Never>, [String]?)?
        let result = self.state.withLock { state in
            let result = body(&state)
            if let reader = state.reader, !state.lines.isEmpty || state.isClosed {
                state.reader = nil
                reading = (reader, self.dequeue(&state))
            }
            let waiters = state.waiters
            state.waiters = []
            for waiter in waiters {
                if let answer = self.answer(waiter.condition, state) {
                    resumptions.append((waiter.continuation, answer))
                } else {
                    state.waiters.append(waiter)
                }
            }
            return result
        }
        if let (reader, batch) = reading { reader.resume(returning: batch) }
        for (waiter, answer) in resumptions { waiter.resume(returning: answer) }
        return result
    }
}
