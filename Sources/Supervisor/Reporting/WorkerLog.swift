import Foundation
import Synchronization

/// The most recent log lines of each worker, in memory: its standard error, and its supervisor events.
package final class WorkerLog: Sendable {
    package struct Line: Hashable, Sendable {
        /// Number of the line among all lines, so that a follower can continue where it was.
        package let number: Int
        /// The time of arrival, in Unix milliseconds.
        package let time: Int64
        package let worker: String
        package let text: String
    }

    private struct State {
        var lines: [String: [Line]] = [:]
        var lastNumber = 0
        var followers: [Int: (worker: String?, yield: @Sendable (Line) -> Void)] = [:]
        var lastFollower = 0

        mutating func add(_ worker: String?, _ yield: @escaping @Sendable (Line) -> Void) -> Int {
            lastFollower += 1
            followers[lastFollower] = (worker, yield)
            return lastFollower
        }
    }

    /// Maximum number of characters kept of one line.
    static let longestLine = 8192
    /// Maximum number of lines queued for a slow follower; beyond it the oldest are dropped.
    static let longestQueue = 4096

    private let capacity: Int
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: lines kept per worker.
    ///   - now: Unix milliseconds.
    package init(capacity: Int = 1000, now: @escaping @Sendable () -> Int64 = WorkerLog.systemTime) {
        self.capacity = max(1, capacity)
        self.now = now
    }

    @Sendable
    package static func systemTime() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    func add(_ text: String, of worker: String) {
        let time = now()
        let followers = state.withLock { state in
            state.lastNumber += 1
            let line = Line(
                number: state.lastNumber, time: time, worker: worker, text: String(text.prefix(Self.longestLine)))
            state.lines[worker, default: []].append(line)
            // Trims only at twice the capacity, so that appending is amortised constant time.
            if let count = state.lines[worker]?.count, count >= 2 * capacity {
                state.lines[worker]?.removeFirst(count - capacity)
            }
            return state.followers.values.filter { $0.worker == nil || $0.worker == worker }.map { ($0.yield, line) }
        }
        for (yield, line) in followers { yield(line) }
    }

    /// Returns the newest lines of one worker, or of all, oldest first.
    package func newest(_ count: Int, of worker: String? = nil) -> [Line] {
        state.withLock { newest(count, of: worker, $0) }
    }

    /// Returns the newest lines and then new ones; for one reader, until it stops.
    package func follow(_ count: Int, of worker: String? = nil) -> AsyncStream<Line> {
        let (lines, continuation) = AsyncStream.makeStream(
            of: Line.self, bufferingPolicy: .bufferingNewest(Self.longestQueue))
        state.withLock { state in
            // No reader yet: this only fills the stream, and no line can come between.
            for line in newest(count, of: worker, state) { continuation.yield(line) }
            let id = state.add(worker) { continuation.yield($0) }
            continuation.onTermination = { [weak self] _ in self?.forget(id) }
        }
        return lines
    }

    /// Returns the numbers of new lines; a slow reader misses numbers, but not the newest. For one reader.
    package func numbers() -> AsyncStream<Int> {
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            let id = state.add(nil) { continuation.yield($0.number) }
            continuation.onTermination = { [weak self] _ in self?.forget(id) }
        }
        return numbers
    }

    /// Returns the lines of one worker, or of all, with a number above `number`, oldest first: at most `count`, the
    /// newest ones.
    package func lines(after number: Int, of worker: String? = nil, _ count: Int) -> [Line] {
        state.withLock { state in
            let kept = worker.map { [state.lines[$0] ?? []] } ?? Array(state.lines.values)
            var lines: [Line] = []
            for own in kept {
                // The lines of a worker are in the order of their numbers, and most readers have read almost all.
                let first = own.lastIndex { $0.number <= number }.map { $0 + 1 } ?? 0
                lines += own[max(first, own.count - min(capacity, own.count))...]
            }
            return Array(lines.sorted { $0.number < $1.number }.suffix(max(0, count)))
        }
    }

    /// Number of followers.
    var followers: Int { state.withLock { $0.followers.count } }

    private func forget(_ follower: Int) {
        _ = state.withLock { $0.followers.removeValue(forKey: follower) }
    }

    private func newest(_ count: Int, of worker: String?, _ state: State) -> [Line] {
        let lines =
            worker.map { Array((state.lines[$0] ?? []).suffix(capacity)) }
            ?? state.lines.values.flatMap { $0.suffix(capacity) }.sorted { $0.number < $1.number }
        return Array(lines.suffix(max(0, count)))
    }
}
