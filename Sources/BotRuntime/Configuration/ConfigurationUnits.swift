import BotDispatch

/// The units of durations, largest first, in milliseconds.
private let durationUnits: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
]

/// Ten years; beyond that a number is a slip.
private let longestDuration = Int64(3650) * 86_400_000

extension Duration {
    /// `250ms`, `1s`, `5m`, `1h` or `1d`; nil for anything else.
    init?(configurationText text: some StringProtocol) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        guard let unit = durationUnits.first(where: { $0.name == suffix }), let number = Int64(digits) else {
            return nil
        }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow, milliseconds <= longestDuration else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// The shortest text that reads back as this duration, to the millisecond.
    var configurationText: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        guard milliseconds != 0, let unit = durationUnits.first(where: { milliseconds % $0.milliseconds == 0 }) else {
            return "\(milliseconds)ms"
        }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}

/// `1s..30s`; nil when a side is no duration or the second is smaller.
func durationRange(configurationText text: String) -> ClosedRange<Duration>? {
    let halves = text.split(separator: "..", omittingEmptySubsequences: false)
    guard halves.count == 2, let lower = Duration(configurationText: halves[0]),
        let upper = Duration(configurationText: halves[1]), lower <= upper
    else { return nil }
    return lower...upper
}

extension Rate {
    /// `6/min`; nil for anything else, also for zero.
    init?(configurationText text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let unit = Unit(rawValue: String(halves[1])),
            halves[0].allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(halves[0]), count > 0,
            count <= 1_000_000
        else { return nil }
        self.init(count, per: unit)
    }
}

extension ListenAddress {
    /// `127.0.0.1:9464`, `localhost:0`, `[::1]:9464`.
    init?(configurationText text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        let digits = text[text.index(after: colon)...]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        let allowed = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_:%".contains($0)) }
        guard !host.isEmpty, allowed, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = Int(digits),
            port <= 65_535
        else { return nil }
        self.init(host: String(host), port: port)
    }
}
