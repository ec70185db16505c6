import BotTesting
import PikaCore
import Testing

@Suite struct RepeatableGeneratorTests {
    /// The published outputs of SplitMix64 for this seed.
    private let seed: UInt64 = 1_234_567
    private let numbers: [UInt64] = [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
    ]

    @Test func yieldsNumbersOfSplitMix64() {
        var generator = RepeatableGenerator(seed: seed)
        let found: [UInt64] = [generator.next(), generator.next(), generator.next()]
        #expect(found == numbers)
    }

    @Test func labSeedsYieldTheSameNumbers() {
        var generator = SeededGenerator(seed: seed)
        let found: [UInt64] = [generator.next(), generator.next(), generator.next()]
        #expect(found == numbers)
    }
}
