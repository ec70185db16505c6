/// The units of durations, largest first, in milliseconds.
private let durationUnits: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
]

/// Ten years; a longer duration is treated as a mistake.
private let longestDuration: Duration = .seconds(3650 * 86_400)

/// Why a setting does not accept a text as its duration.
package enum DurationFault: Error, Hashable {
    /// The text is not a whole number followed by a unit.
    case malformed
    /// It is below the minimum; nil if it only has to be above zero.
    case tooShort(minimum: Duration?)
    case tooLong(maximum: Duration)

    /// The expected value, for an error message.
    package var expected: String {
        switch self {
        case .malformed: "a duration"
        case .tooShort(let minimum?): "a duration of at least \(minimum.configurationText)"
        case .tooShort(nil): "a duration above zero"
        case .tooLong(let maximum): "a duration of at most \(maximum.configurationText)"
        }
    }

    /// How to fix it, for an error message.
    package var fix: String {
        switch self {
        case .malformed: "write a number and one of ms, s, m, h, d, such as 10s"
        case .tooShort: "write a longer one"
        case .tooLong: "write a shorter one"
        }
    }
}

extension Duration {
    /// Parses `250ms`, `1s`, `5m`, `1h` or `1d`; nil for anything else, and for more than ten years.
    package init?(configurationText text: some StringProtocol) {
        guard let duration = try? Self.parsed(text, upTo: longestDuration) else { return nil }
        self = duration
    }

    /// Parses the duration of a setting.
    ///
    /// - Parameters:
    ///   - minimum: nil for any duration above zero.
    ///   - maximum: nil for ten years.
    package init(
        settingText text: some StringProtocol, from minimum: Duration? = nil, upTo maximum: Duration? = nil
    ) throws(DurationFault) {
        let duration = try Self.parsed(text, upTo: maximum ?? longestDuration)
        guard duration > .zero, duration >= minimum ?? .zero else { throw DurationFault.tooShort(minimum: minimum) }
        self = duration
    }

    private static func parsed(
        _ text: some StringProtocol, upTo maximum: Duration
    ) throws(DurationFault) -> Duration {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        guard !digits.isEmpty, let unit = durationUnits.first(where: { $0.name == suffix }) else {
            throw DurationFault.malformed
        }
        guard let number = Int64(digits) else { throw DurationFault.tooLong(maximum: maximum) }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow, Duration.milliseconds(milliseconds) <= maximum else {
            throw DurationFault.tooLong(maximum: maximum)
        }
        return .milliseconds(milliseconds)
    }

    /// The shortest text that parses as this duration, to the millisecond.
    package var configurationText: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        guard milliseconds != 0, let unit = durationUnits.first(where: { milliseconds % $0.milliseconds == 0 }) else {
            return "\(milliseconds)ms"
        }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
