import LiveTesting
import Testing

@testable import RelayClient

struct BackoffTests {
    /// Always returns the same word.
    private struct Constant: RandomNumberGenerator {
        let word: UInt64
        mutating func next() -> UInt64 { word }
    }

    private let backoff = Backoff(base: .seconds(1), cap: .seconds(60))

    private func bounds(_ backoff: Backoff, _ failures: Int) -> (Duration, Duration) {
        var generator = SplitMix64(seed: UInt64(failures.magnitude))
        let delays = (0..<2_000).map { _ in backoff.delay(afterFailures: failures, using: &generator) }
        return (delays.min() ?? .zero, delays.max() ?? .zero)
    }

    @Test(arguments: zip([1, 2, 3, 4, 5, 6, 7, 8, 100, .max], [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]))
    func doublesUpToCapWithHalfJitter(failures: Int, seconds: Int) {
        let (shortest, longest) = bounds(backoff, failures)
        let full = Duration.seconds(seconds)
        #expect(shortest >= full / 2 && shortest < full * 0.51)
        #expect(longest <= full && longest > full * 0.99)
    }

    @Test(arguments: [0, -1, .min]) func zeroFailuresCountAsOne(failures: Int) {
        let (shortest, longest) = bounds(backoff, failures)
        #expect(shortest >= .seconds(0.5) && longest <= .seconds(1))
    }

    @Test func clampsBaseToTheCap() {
        #expect(bounds(Backoff(base: .seconds(90), cap: .seconds(60)), 1).1 <= .seconds(60))
    }

    @Test func hugeCapDoesNotOverflow() {
        let (shortest, longest) = bounds(Backoff(base: .seconds(1), cap: .seconds(1 << 40)), .max)
        #expect(shortest >= .seconds(1 << 39) && longest <= .seconds(1 << 40))
    }

    @Test func sameSeedGivesSameDelay() {
        var (first, second) = (Constant(word: 1 << 60), Constant(word: 1 << 60))
        #expect(backoff.delay(afterFailures: 3, using: &first) == backoff.delay(afterFailures: 3, using: &second))
    }
}
