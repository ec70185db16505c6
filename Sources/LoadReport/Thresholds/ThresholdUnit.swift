/// Unit of a threshold's value.
package enum ThresholdUnit: String, Codable, Sendable {
    case seconds
    /// A ratio from 0 to 1.
    case ratio
    case count
    case perSecond
}

extension ThresholdUnit {
    /// Parses a value: `250ms`, `0.999` or `99.9%`, `0`, `20/s`.
    func value(of text: String) throws(ThresholdValueProblem) -> Double {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let suffix = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Double(String(digits)), number.isFinite, !digits.hasSuffix(".") else {
            throw .notANumber
        }
        guard let factor = factors[String(suffix)] else { throw .wrongUnit }
        let value = scaled(number, factor)
        switch self {
        case .ratio where value > 1: throw .wrongUnit
        case .count where value != value.rounded(): throw .wrongUnit
        default: return value
        }
    }

    /// Scales and rounds to 1e-12, so that a measured 35 ms equals `35ms`, and 0.999 equals `99.9%`.
    private func scaled(_ number: Double, _ factor: Double) -> Double {
        switch self {
        case .seconds, .ratio: number * factor < 9_000 ? (number * factor * 1e12).rounded() / 1e12 : number * factor
        case .count: number
        case .perSecond: number / factor
        }
    }

    /// Accepted formats, for an error message.
    var expectation: String {
        switch self {
        case .seconds: "a time with its unit (250ms, 3s, 2min)"
        case .ratio: "a ratio from 0 to 1, or a percentage (0.999, 99.9%)"
        case .count: "a whole number (0, 25)"
        case .perSecond: "a rate (20/s, 30/min)"
        }
    }

    /// Returns the closest valid value.
    func suggestion(for text: String) -> String {
        let digits = String(text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") })
        let number = Double(digits) ?? 0
        switch self {
        case .seconds: return number == 0 ? "3s" : digits + "s"
        case .ratio: return number > 1 && number <= 100 ? digits + "%" : number > 0 && number <= 1 ? digits : "0.999"
        case .count: return number < 1e15 ? String(Int(number.rounded())) : "0"
        case .perSecond: return number == 0 ? "20/s" : digits + "/s"
        }
    }

    /// Factors by unit suffix; rates are divided by them.
    private var factors: [String: Double] {
        switch self {
        case .seconds:
            ["ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3_600]
        case .ratio: ["": 1, "%": 0.01]
        case .count: ["": 1]
        case .perSecond: ["": 1, "/s": 1, "/min": 60, "/h": 3_600]
        }
    }
}

/// The reason why a value is invalid for its unit.
enum ThresholdValueProblem: Error {
    case notANumber
    case wrongUnit
}
