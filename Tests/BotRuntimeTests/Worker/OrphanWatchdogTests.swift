import Foundation
import LiveTesting
import Testing

@testable import BotRuntime

@Suite(.live)
struct OrphanWatchdogTests {
    /// Every thread of the pool is blocked, and the input was never read to its end.
    @Test func hangingProcessEndsWithItsInput() async {
        await #expect(processExitsWith: .exitCode(EXIT_FAILURE)) {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data("a question\n".utf8))
            OrphanWatchdog.arm(pipe.fileHandleForReading.fileDescriptor, patience: .milliseconds(10))
            let never = DispatchSemaphore(value: 0)
            Thread.detachNewThread { try? pipe.fileHandleForWriting.close() }
            await withDiscardingTaskGroup { group in
                for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount { group.addTask { wait(never) } }
            }
        }
    }

    /// Nothing happens while a writer still exists.
    @Test func processWithOpenInputContinues() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let pipe = Pipe()
            OrphanWatchdog.arm(pipe.fileHandleForReading.fileDescriptor, patience: .zero)
            try pipe.fileHandleForWriting.write(contentsOf: Data("a question\n".utf8))
            var status = pollfd(fd: pipe.fileHandleForReading.fileDescriptor, events: 0, revents: 0)
            // Long enough for the watchdog to fire if it saw a hangup.
            _ = poll(&status, 1, 300)
            withExtendedLifetime(pipe) { exit(7) }
        }
    }

    @Test func ignoresDescriptorsWithoutHangup() async {
        await #expect(processExitsWith: .exitCode(7)) {
            OrphanWatchdog.arm(-1, patience: .zero)
            let file = open("/dev/null", O_RDONLY)
            OrphanWatchdog.arm(file, patience: .zero)
            var status = pollfd(fd: -1, events: 0, revents: 0)
            _ = poll(&status, 1, 300)
            exit(7)
        }
    }
}

/// Blocks its thread, like a handler that waits forever.
private func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
