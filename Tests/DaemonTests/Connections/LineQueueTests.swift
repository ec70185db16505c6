import LiveTesting
import Testing

@testable import Daemon

@Suite(.bounded) struct LineQueueTests {
    @Test func nextConfirmsThePreviousBatch() async {
        let queue = LineQueue(limit: 100)
        await queue.put("one")
        #expect(queue.offer("two", farewell: ""))
        #expect(await queue.next() == ["one", "two"])
        async let flushed = queue.flush()
        async let rest = queue.next()
        #expect(await flushed)
        queue.close()
        #expect(await rest == nil)
        #expect(await !queue.put("late"))
        #expect(!queue.offer("late", farewell: ""))
    }

    @Test func dropsSlowReadersWithAFarewell() async {
        let queue = LineQueue(limit: 10)
        #expect(queue.offer("12345", farewell: "bye"))
        #expect(queue.offer("67890", farewell: "bye"))
        #expect(!queue.offer("x", farewell: "bye"))
        #expect(queue.isClosed && !queue.isDone)
        #expect(await queue.next() == ["bye"])
        #expect(await queue.next() == nil)
        #expect(queue.isDone)
    }

    @Test func writersWaitForRoom() async {
        let queue = LineQueue(limit: 5)
        await queue.put("12345")
        let writer = Task { await queue.put("67890") }
        #expect(await queue.next() == ["12345"])
        #expect(await writer.value)
        #expect(await queue.next() == ["67890"])
    }

    @Test func oneOversizedReplyDropsNoReader() async {
        let queue = LineQueue(limit: 5)
        #expect(queue.offer("1234", farewell: "bye"))
        #expect(queue.offer("a long reply", farewell: "bye"))
        #expect(queue.offer("5", farewell: "bye"))
        #expect(await queue.next() == ["1234", "a long reply", "5"])
        #expect(queue.offer("a long reply", farewell: "bye"))
        #expect(!queue.offer("another of them", farewell: "bye"))
        #expect(await queue.next() == ["bye"])
    }

    @Test func partialReadsMakeRoom() async {
        let queue = LineQueue(limit: 200_000)
        let line = String(repeating: "x", count: 20_000)
        for _ in 0..<10 { #expect(queue.putNow(line) == true) }
        #expect(queue.putNow(line) == nil)
        #expect(await queue.next()?.count == 3)
        for _ in 0..<3 { #expect(queue.putNow(line) == true) }
        #expect(queue.putNow(line) == nil)
        for count in [3, 3, 3, 1] { #expect(await queue.next()?.count == count) }
        queue.close()
        #expect(queue.putNow(line) == false)
    }

    @Test func queuesOneOversizedLineAtATime() async {
        let queue = LineQueue(limit: 2)
        await queue.put("longer than that")
        let writer = Task { await queue.put("as long as that") }
        #expect(await queue.next() == ["longer than that"])
        #expect(await writer.value)
        #expect(await queue.next() == ["as long as that"])
    }

    @Test func acceptsOneOversizedLine() async {
        let queue = LineQueue(limit: 2)
        #expect(await queue.put("longer than that"))
        #expect(await queue.next() == ["longer than that"])
    }

    @Test func flushFailsForUnwrittenLines() async {
        let queue = LineQueue(limit: 100)
        await queue.put("one")
        let flushed = Task { await queue.flush() }
        queue.close(dropping: true)
        #expect(await !flushed.value)
        await queue.waitUntilClosed()
        #expect(await queue.next() == nil)
    }
}
