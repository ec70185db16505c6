import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct SignerQueueTests {
    @Test func sameTaskIsQueuedOnce() {
        var (queue, step) = (SignerQueue(), CoreStep.at(0))
        let isNew = (0..<2).map { _ in queue.enqueue(.announce([1]), for: nil, &step) }
        #expect(isNew == [true, false])
        #expect(queue.count == 1 && step.changes.count == 1)
    }

    @Test func limitsRequestsInFlight() {
        var (queue, step) = (SignerQueue(), CoreStep.at(0))
        for number in UInt8(0)..<20 { _ = queue.enqueue(.announce([number]), for: nil, &step) }
        var sent = 0
        while let job = queue.next(0) {
            queue.send(.sign([]), of: job, &step)
            sent += 1
        }
        #expect(sent == SignerQueue.window)
        let ended = (0..<2).map { _ in queue.endRequest(of: 1)?.job.task }
        #expect(ended == [.announce([0]), nil])
    }

    @Test func backsOffWhileSignerIsAway() {
        var (queue, step) = (SignerQueue(), CoreStep.at(0))
        _ = queue.enqueue(.announce([1]), for: nil, &step)
        queue.noteAway(&step)
        #expect(queue.next(SignerQueue.delay - 1) == nil)
        #expect(queue.next(SignerQueue.delay) != nil)
        queue.noteAway(&step)
        #expect(queue.failures == 1)
        queue.notePresent()
        #expect(queue.next(0) != nil)
    }

    @Test func restoresStoredTasks() throws {
        var (queue, step) = (SignerQueue(), CoreStep.at(0))
        _ = queue.enqueue(.announce([7]), for: nil, &step)
        guard case .putMemo(let name, let memo?) = try #require(step.changes.first) else {
            Issue.record("expected the task to be stored")
            return
        }
        var restored = SignerQueue()
        let isReadable = [name.key, [1]].map { restored.restore($0, memo) }
        #expect(isReadable == [true, false])
        #expect(restored.contains(.announce([7])))
    }
}
