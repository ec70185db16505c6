import Nostr
import Testing

@testable import PikaCore

@Suite struct MessageExpiryTests {
    @Test func wakesAtTheEarliestExpiry() {
        var (expiry, step) = (MessageExpiry(), CoreStep.at(0))
        expiry.register(60, &step)
        expiry.register(90, &step)
        expiry.register(30, &step)
        #expect(step.effects.contains(.wake(.expiry, atMilliseconds: 60_000)))
        #expect(step.effects.contains(.wake(.expiry, atMilliseconds: 30_000)))
        #expect(step.effects.count == 2)
        let isDue = [Int64(29_999), 30_000, 60_000].map { time in
            var step = CoreStep.at(time)
            return expiry.wakeUp(&step)
        }
        #expect(isDue == [false, true, false])
    }

    @Test func checksDistantExpiriesDaily() {
        var (expiry, step) = (MessageExpiry(), CoreStep.at(0))
        expiry.register(200_000, &step)
        #expect(step.effects == [.wake(.expiry, atMilliseconds: 86_400_000)])
        var day = CoreStep.at(86_400_000)
        let isDue = expiry.wakeUp(&day)
        #expect(!isDue)
        #expect(day.effects == [.wake(.expiry, atMilliseconds: 172_800_000)])
    }
}
