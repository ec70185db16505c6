private import Foundation

/// Number formats for people.
enum Figures {
    /// Formats a time in a suitable unit with three digits: `850 µs`, `23.4 ms`, `1.25 s`, `2 min 5 s`.
    static func time(_ seconds: Double) -> String {
        switch seconds {
        case 0: "0 s"
        case ..<0.000_999_5: "\(significant(seconds * 1e6)) µs"
        case ..<0.999_5: "\(significant(seconds * 1e3)) ms"
        case ..<119.5: "\(significant(seconds)) s"
        default: minutes(seconds)
        }
    }

    /// Formats with three significant digits, without trailing zeros in a fraction: 0.001, 23.4, 850, 1250.
    static func significant(_ number: Double) -> String {
        let size = abs(number)
        let places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3
        return fixed(number, places)
    }

    /// Formats with a maximum number of decimals, without trailing zeros.
    static func fixed(_ number: Double, _ places: Int) -> String {
        guard number.isFinite else { return "–" }
        var text = String(format: "%.\(places)f", number)
        guard text.contains(".") else { return text == "-0" ? "0" : text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }

    /// Formats a ratio as a percentage; values below 1 are never shown as 100 %, nor values above 0 as 0 %.
    static func percent(_ ratio: Double) -> String {
        let percent = ratio * 100
        for places in 2...6 where (percent - 100).magnitude > 1e-9 && percent > 0 {
            let text = fixed(percent, places)
            if text != "100", text != "0" { return text + " %" }
        }
        return fixed(percent, 2) + " %"
    }

    /// Formats a count in groups of three with thin spaces: `12 345`.
    static func count(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { grouped += "\u{202F}" }
            grouped.append(digit)
        }
        return (number < 0 ? "-" : "") + grouped
    }

    static func rate(_ perSecond: Double) -> String { significant(perSecond) + "/s" }

    /// Formats memory in binary units: `512 MiB`.
    static func bytes(_ bytes: UInt64) -> String {
        var (number, index) = (Double(bytes), 0)
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        while number >= 1_023.5, index < units.count - 1 { (number, index) = (number / 1_024, index + 1) }
        return significant(number) + " " + units[index]
    }

    /// Formats a time of the run: `1:05`, `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        let whole = Int64(min(max(seconds, 0), 1e9))
        let tail = WallTime.pad(whole % 60, 2)
        let minutes = whole / 60 % 60
        return whole < 3_600 ? "\(minutes):\(tail)" : "\(whole / 3_600):\(WallTime.pad(minutes, 2)):\(tail)"
    }

    private static func minutes(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e12 else { return "–" }
        let whole = Int(seconds.rounded())
        let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60)
        return hours > 0 ? "\(hours) h \(minutes) min" : "\(minutes) min" + (rest > 0 ? " \(rest) s" : "")
    }
}

extension ThresholdUnit {
    /// Formats a value of this unit.
    func text(_ value: Double) -> String {
        switch self {
        case .seconds: Figures.time(value)
        case .ratio: Figures.percent(value)
        case .count: Figures.fixed(value, 0)
        case .perSecond: Figures.rate(value)
        }
    }
}
