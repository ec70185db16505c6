import Foundation
import LiveTesting
import Testing

@testable import BotRuntime

@Suite(.live)
struct LastResortTests {
    /// Every thread of the pool waits for ever, and the input was never read to its end.
    @Test func aProcessThatHangsEndsWithItsInput() async {
        await #expect(processExitsWith: .exitCode(EXIT_FAILURE)) {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data("a question\n".utf8))
            LastResort.arm(pipe.fileHandleForReading.fileDescriptor, patience: .milliseconds(10))
            let never = DispatchSemaphore(value: 0)
            Thread.detachNewThread { try? pipe.fileHandleForWriting.close() }
            await withDiscardingTaskGroup { group in
                for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount { group.addTask { wait(never) } }
            }
        }
    }

    /// While somebody could still write, nothing happens.
    @Test func aProcessWithAnInputGoesOn() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let pipe = Pipe()
            LastResort.arm(pipe.fileHandleForReading.fileDescriptor, patience: .zero)
            try pipe.fileHandleForWriting.write(contentsOf: Data("a question\n".utf8))
            var status = pollfd(fd: pipe.fileHandleForReading.fileDescriptor, events: 0, revents: 0)
            // As long as a wait that ends by itself takes.
            _ = poll(&status, 1, 300)
            withExtendedLifetime(pipe) { exit(7) }
        }
    }

    @Test func whatCannotHangUpIsLeftAlone() async {
        await #expect(processExitsWith: .exitCode(7)) {
            LastResort.arm(-1, patience: .zero)
            let file = open("/dev/null", O_RDONLY)
            LastResort.arm(file, patience: .zero)
            var status = pollfd(fd: -1, events: 0, revents: 0)
            _ = poll(&status, 1, 300)
            exit(7)
        }
    }
}

/// Blocks its thread, as a handler does that waits for something that does not come.
private func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
