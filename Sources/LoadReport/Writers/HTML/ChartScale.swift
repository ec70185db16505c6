private import Foundation

/// Maps values to positions on an axis, and chooses its ticks.
struct ChartScale {
    let lower: Double
    let upper: Double
    let isLogarithmic: Bool
    let ticks: [Double]

    /// Linear scale from 0 to a round value above the largest one.
    static func linear(upTo largest: Double, isWhole: Bool = false) -> ChartScale {
        let step = max(roundStep(max(largest, 1e-9) / 4), isWhole ? 1 : 0)
        let count = max(1, Int((largest / step).rounded(.up)))
        return ChartScale(
            lower: 0, upper: Double(count) * step, isLogarithmic: false, ticks: (0...count).map { Double($0) * step })
    }

    /// Logarithmic scale of whole decades around the values, which are positive.
    static func logarithmic(_ smallest: Double, _ largest: Double) -> ChartScale {
        let low = Int(log10(max(smallest, 1e-7)).rounded(.down))
        let high = max(low + 1, Int(log10(max(largest, 1e-7)).rounded(.up)))
        return ChartScale(
            lower: Double(low), upper: Double(high), isLogarithmic: true,
            ticks: (low...high).map { pow(10, Double($0)) })
    }

    /// Time scale of a run.
    static func time(upTo seconds: Double) -> ChartScale {
        let upper = max(seconds, 1)
        let steps: [Double] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200,
        ]
        let step = steps.first { upper / $0 <= 7 } ?? 86_400 * (upper / 86_400 / 7).rounded(.up)
        return ChartScale(
            lower: 0, upper: upper, isLogarithmic: false,
            ticks: Array(stride(from: 0, through: upper + step / 1_000, by: step)))
    }

    /// Returns the position, from 0 to 1 for values within the scale.
    func position(_ value: Double) -> Double {
        let place = isLogarithmic ? log10(max(value, 1e-12)) : value
        return upper > lower ? min(max((place - lower) / (upper - lower), 0), 1) : 0
    }

    /// Returns 1, 2 or 5 times a power of ten, at least the wanted step.
    private static func roundStep(_ wanted: Double) -> Double {
        let decade = pow(10, log10(wanted).rounded(.down))
        return decade * ([1, 2, 5].first { $0 * decade >= wanted * 0.999 } ?? 10)
    }
}
