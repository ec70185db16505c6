/// The units of durations, largest first, in milliseconds.
private let durationUnits: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
]

/// Ten years; a longer duration is treated as a mistake.
private let longestDuration = Int64(3650) * 86_400_000

extension Duration {
    /// Parses `250ms`, `1s`, `5m`, `1h` or `1d`; nil for anything else.
    package init?(configurationText text: some StringProtocol) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        guard let unit = durationUnits.first(where: { $0.name == suffix }), let number = Int64(digits) else {
            return nil
        }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow, milliseconds <= longestDuration else { return nil }
        self = .milliseconds(milliseconds)
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
