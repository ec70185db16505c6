import Synchronization

/// Lines on their way to one reader, with a bound.
///
/// A reader that must keep up is dropped when the bound is full, with one last line that says why. One that need not
/// (``put(_:)``) makes those who write wait.
public final class LineQueue: Sendable {
    /// What was handed to the writer, and is known to be written when the writer asks for more.
    private struct State {
        var lines: [String] = []
        /// Of those that count against the bound.
        var bytes = 0
        /// Whether one of the lines is longer than the bound; it does not count.
        var hasLong = false
        var accepted = 0
        var written = 0
        var inFlight = 0
        var isClosed = false
        var reader: CheckedContinuation<[String]?, Never>?
        var waiters: [Waiter] = []
    }

    private struct Waiter {
        enum Aim { case room(for: Int), written(Int), end }

        let aim: Aim
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// What is handed to the writer at once, unless one line is longer.
    private static let batchBytes = 65_536

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: bytes that wait at most, besides those being written. One line at a time may be longer.
    public init(limit: Int) {
        self.limit = limit
    }

    public var isClosed: Bool { self.state.withLock { $0.isClosed } }

    /// Appends a line if there is room. Otherwise the reader is dropped: what waits is thrown away, `farewell` is its
    /// last line, and the queue is closed. False if the line was not taken.
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

    /// Appends a line if there is room; otherwise it is thrown away.
    func offer(_ line: String) {
        self.change { state in
            guard !state.isClosed, self.hasRoom(for: line.utf8.count, state) else { return }
            self.append(line, &state)
        }
    }

    /// Appends a line as soon as there is room; false if the queue was closed.
    @discardableResult
    public func put(_ line: String) async -> Bool {
        while true {
            if let isTaken = self.putNow(line) { return isTaken }
            guard await self.wait({ _ in .room(for: line.utf8.count) }) else { return false }
        }
    }

    /// Appends a line if there is room: nil if there is none, false if the queue was closed.
    func putNow(_ line: String) -> Bool? {
        self.change { state in
            guard !state.isClosed else { return false }
            guard self.hasRoom(for: line.utf8.count, state) else { return nil }
            self.append(line, &state)
            return true
        }
    }

    /// Returns when everything that was taken so far is written; false if it never will be.
    func flush() async -> Bool { await self.wait { .written($0.accepted) } }

    func waitUntilClosed() async { _ = await self.wait { _ in .end } }

    /// Whether it is closed and nothing is left to write.
    var isDone: Bool { self.state.withLock { $0.isClosed && $0.lines.isEmpty && $0.inFlight == 0 } }

    /// The next lines to write; nil at the end. Asking says that those before are written.
    public func next() async -> [String]? {
        await withCheckedContinuation { continuation in
            let result: [String]?? = self.change { state in
                state.written += state.inFlight
                state.inFlight = 0
                if let batch = self.take(&state) { return .some(batch) }
                if state.isClosed { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// No line is taken any more; what waits may still be written, unless the writer has failed.
    public func close(dropping: Bool = false) {
        self.change { state in
            state.isClosed = true
            if dropping {
                state.lines = []
                state.inFlight = 0
            }
        }
    }

    // MARK: Inside

    /// Whoever reads gets an answer of any length: a line longer than the bound is taken as long as no other waits.
    private func hasRoom(for count: Int, _ state: State) -> Bool {
        count > self.limit ? !state.hasLong : state.bytes + count <= self.limit
    }

    private func append(_ line: String, _ state: inout State) {
        let count = line.utf8.count
        state.lines.append(line)
        if count > self.limit { state.hasLong = true } else { state.bytes += count }
        state.accepted += 1
    }

    /// Not all at once: whoever waits for room sees that a slow reader reads.
    private func take(_ state: inout State) -> [String]? {
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

    private func wait(_ aim: @escaping @Sendable (State) -> Waiter.Aim) async -> Bool {
        await withCheckedContinuation { continuation in
            self.change { state in state.waiters.append(Waiter(aim: aim(state), continuation: continuation)) }
        }
    }

    /// Nil while the waiter must go on waiting.
    private func answer(_ aim: Waiter.Aim, _ state: State) -> Bool? {
        switch aim {
        case .end: state.isClosed ? true : nil
        case .room(let count): state.isClosed ? false : self.hasRoom(for: count, state) ? true : nil
        case .written(let count):
            state.written >= count
                ? true : state.isClosed && state.lines.isEmpty && state.inFlight == 0 ? false : nil
        }
    }

    /// Changes the state, and lets go on who may.
    @discardableResult
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        var resumptions: [(CheckedContinuation<Bool, Never>, Bool)] = []
        var reading: (CheckedContinuation<[String]?, Never>, [String]?)?
        let result = self.state.withLock { state in
            let result = body(&state)
            if let reader = state.reader, !state.lines.isEmpty || state.isClosed {
                state.reader = nil
                reading = (reader, self.take(&state))
            }
            let waiters = state.waiters
            state.waiters = []
            for waiter in waiters {
                if let answer = self.answer(waiter.aim, state) {
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
