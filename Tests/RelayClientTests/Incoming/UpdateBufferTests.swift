import LiveTesting
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import RelayClient

@Suite(.bounded)
struct UpdateBufferTests {
    private let relay = Machine.relay

    private func update(_ number: Int) -> RelayUpdate { .refused(relay: relay, reason: "\(number)") }

    @Test func keepsTheOrderUnderBackPressure() async {
        let buffer = UpdateBuffer(maximumItems: 4, maximumBytes: 1_000)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<1_000 where !buffer.offer(update(number), bytes: 1) {
                    await buffer.send(update(number), bytes: 1)
                }
                buffer.finish()
            }
            var expected = 0
            for await found in buffer.updates {
                #expect(found == update(expected))
                expected += 1
            }
            #expect(expected == 1_000)
        }
    }

    /// The receiver gets what it accepts, while nothing is buffered; the consumer gets the rest, and no order is lost.
    @Test func receiverAndConsumerKeepTheOrder() async {
        let buffer = UpdateBuffer(maximumItems: 4, maximumBytes: 1_000)
        let found = Mutex<[RelayUpdate]>([])
        let refusals = Mutex(0)
        buffer.offer { update in
            let isRefused = refusals.withLock { count in
                count += 1
                return count.isMultiple(of: 3)
            }
            if !isRefused { found.withLock { $0.append(update) } }
            return !isRefused
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<1_000 where !buffer.offer(update(number), bytes: 1) {
                    await buffer.send(update(number), bytes: 1)
                }
                buffer.finish()
            }
            for await update in buffer.updates { found.withLock { $0.append(update) } }
        }
        #expect(found.withLock { $0 } == (0..<1_000).map(update))
    }

    @Test func limitsNumberAndBytes() {
        let buffer = UpdateBuffer(maximumItems: 2, maximumBytes: 100)
        #expect(buffer.offer(update(1), bytes: 1) && buffer.offer(update(2), bytes: 1))
        #expect(!buffer.offer(update(3), bytes: 1))
        let other = UpdateBuffer(maximumItems: 100, maximumBytes: 100)
        #expect(other.offer(update(1), bytes: 99) && other.offer(update(2), bytes: 1_000))
        #expect(!other.offer(update(3), bytes: 0))
    }

    @Test func statesAreCoalescedWithoutBackPressure() async {
        let buffer = UpdateBuffer(maximumItems: 1, maximumBytes: 100)
        #expect(buffer.offer(update(1), bytes: 1))
        for attempt in 1...1_000 { buffer.push(.state(relay: relay, .retrying(attempt: attempt, reason: ""))) }
        buffer.finish()
        var found: [RelayUpdate] = []
        for await update in buffer.updates { found.append(update) }
        #expect(found == [update(1), .state(relay: relay, .retrying(attempt: 1_000, reason: ""))])
    }

    @Test func releaseUnblocksSenders() async {
        let buffer = UpdateBuffer(maximumItems: 1, maximumBytes: 100)
        #expect(buffer.offer(update(1), bytes: 1))
        await withTaskGroup(of: Void.self) { group in
            for number in 2..<10 { group.addTask { await buffer.send(update(number), bytes: 1) } }
            buffer.release()
        }
        #expect(buffer.offer(update(99), bytes: 1))
        buffer.finish()
        var count = 0
        for await _ in buffer.updates { count += 1 }
        #expect(count == 1)
    }

    @Test func cancelledConsumerEnds() async {
        let buffer = UpdateBuffer(maximumItems: 1, maximumBytes: 100)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in buffer.updates {} }
            group.cancelAll()
        }
        #expect(buffer.offer(update(1), bytes: 1))
    }
}
