import Foundation
import Synchronization
public import Testing

/// Ends a test that exceeds its deadline, and runs live tests one at a time.
///
/// A test that exceeds its deadline fails with a message and is cancelled. If its cancellation does not end it either,
/// the whole run ends instead of hanging.
///
/// A live test uses real sockets, processes or time. Swift Testing starts every test at once, and its tests share a
/// thread for each core, as do their timers. Beside CPU-bound tests, each step of a live test would wait for all tests
/// started before it, and the tested deadlines would pass meanwhile. Therefore
/// - live tests start when the others have ended (``Idleness``);
/// - they hold a process-wide lock, so that they run one at a time. The cases of one test function run together, unless
///   it is also `.serialized`;
/// - their deadlines start when they hold the lock.
public struct DeadlineTrait: SuiteTrait, TestTrait, TestScoping {
    let deadline: Duration
    var isLive = false

    /// Time between the cancellation of a test at its deadline and the end of the process.
    private static let grace: Duration = .seconds(60)
    private static let lock = AsyncLock()
    @TaskLocal private static var holdsLock = false

    public var isRecursive: Bool { true }

    /// One scope for each test function, with all its cases.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        // Safe: the task group that runs it ends before this scope does.
        try await withoutActuallyEscaping(function) { function in
            // A suite within a live suite carries the trait twice.
            guard self.isLive, !Self.holdsLock else { return try await self.run(test, function) }
            await Self.lock.acquire()
            defer { Self.lock.release() }
            await Idleness.wait()
            try await Self.$holdsLock.withValue(true) { try await self.run(test, function) }
        }
    }

    private func run(
        _ test: Test, _ function: @escaping @Sendable @concurrent () async throws -> Void
    ) async throws {
        let watchdog = Watchdog(test, ends: self.deadline + Self.grace)
        defer { watchdog.stop() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await function()
                return true
            }
            group.addTask {
                try await Task.sleep(for: self.deadline)
                return false
            }
            defer { group.cancelAll() }
            if try await group.next() == false {
                Issue.record("the test exceeded its deadline of \(self.deadline)", sourceLocation: test.sourceLocation)
            }
        }
    }
}

extension Trait where Self == DeadlineTrait {
    /// For tests with real sockets, processes or time: one at a time, with a deadline of two minutes.
    public static var live: Self { .live(deadline: .seconds(120)) }

    /// For live tests that take long on a slow machine.
    public static func live(deadline: Duration) -> Self { Self(deadline: deadline, isLive: true) }

    /// For tests that wait for other tasks without real time: they fail after ten minutes instead of hanging.
    public static var bounded: Self { Self(deadline: .seconds(600)) }
}

/// Ends the process when a test neither finished nor reacted to its cancellation.
private final class Watchdog: Sendable {
    private let isStopped = Mutex(false)

    init(_ test: Test, ends deadline: Duration) {
        let text = "error: \(test.name) (\(test.sourceLocation)) hangs: it ignored the cancellation at its deadline\n"
        let seconds = Int(deadline.components.seconds)
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
            if self.isStopped.withLock({ $0 }) { return }
            fflush(nil)
            FileHandle.standardError.write(Data(text.utf8))
            _exit(EXIT_FAILURE)
        }
    }

    func stop() { self.isStopped.withLock { $0 = true } }
}
