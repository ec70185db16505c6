import Nostr
import Testing

@Suite struct ClampedArithmeticTests {
    @Test func sumsStayInRange() {
        #expect(Int64.max.clampedAdding(1) == .max && Int64.min.clampedAdding(-1) == .min)
        #expect(Int64.max.clampedAdding(.min) == -1 && Int64(2).clampedAdding(3) == 5)
        #expect(UInt32.max.clampedAdding(1) == .max)
    }

    @Test func differencesStayInRange() {
        #expect(Int64.min.clampedSubtracting(1) == .min && Int64.max.clampedSubtracting(-1) == .max)
        #expect(Int64(0).clampedSubtracting(.min) == .max && Int64(-2).clampedSubtracting(.max) == .min)
        #expect(UInt64(1).clampedSubtracting(2) == 0 && Int64(2).clampedSubtracting(3) == -1)
    }

    @Test func productsStayInRange() {
        #expect(Int64.max.clampedMultiplied(by: 1000) == .max && Int64.min.clampedMultiplied(by: 1000) == .min)
        #expect(Int64.max.clampedMultiplied(by: -2) == .min && Int64.min.clampedMultiplied(by: -1) == .max)
        #expect(Int64(-3).clampedMultiplied(by: 4) == -12 && UInt8(200).clampedMultiplied(by: 2) == .max)
    }
}
