import ConsoleReports
import Foundation

/// Text of others: names, reasons, log lines.
extension HTML {
    /// A name in isolation from the text around it, cut to 80 characters. A longer one has its beginning as tooltip.
    package static func name(_ text: String) -> HTML {
        let short = text.limited(to: 80)
        guard short != text else { return "<bdi>\(text)</bdi>" }
        return #"<bdi title="\#(text.limited(to: 400))">\#(short)</bdi>"#
    }

    /// A sentence, cut to 1,000 characters.
    package static func sentence(_ text: String) -> HTML {
        #"<bdi class="sentence">\#(text.limited(to: ReportLimits.sentence))</bdi>"#
    }

    /// An id, key or hash: the first digits, and all of it as tooltip.
    package static func id(_ text: String, digits: Int = 12) -> HTML {
        guard text.utf8.count > digits else { return "<code>\(text)</code>" }
        return #"<code title="\#(text.limited(to: 200))">\#(String(text.prefix(digits)))…</code>"#
    }
}

/// Times and durations.
extension HTML {
    /// A point in time: relative as text, absolute as tooltip and for programs.
    ///
    /// - Parameters:
    ///   - seconds: Unix seconds.
    ///   - now: Unix seconds of the rendered snapshot.
    package static func time(_ seconds: Int64, now: Int64) -> HTML {
        let absolute = Self.absolute(seconds)
        return
            #"<time datetime="\#(absolute)" title="\#(absolute)" data-at="\#(seconds)">\#(relative(seconds, now: now))</time>"#
    }

    package static func time(_ seconds: Int64?, now: Int64) -> HTML { seconds.map { time($0, now: now) } ?? none }

    /// The sign for an absent value.
    package static let none: HTML = #"<span class="none">–</span>"#

    /// Returns a time such as `2026-01-31T12:00:00Z`.
    static func absolute(_ seconds: Int64) -> String {
        // The years that ISO 8601 can write with four digits.
        let bounded = min(max(seconds, -62_135_596_800), 253_402_300_799)
        return Date(timeIntervalSince1970: Double(bounded)).formatted(.iso8601)
    }

    /// Returns a time such as `3 min ago` or `in 2 d`. The script of the page repeats this rule.
    static func relative(_ seconds: Int64, now: Int64) -> String {
        let (difference, overflow) = now.subtractingReportingOverflow(seconds)
        guard !overflow, difference.magnitude < 1 << 40 else { return absolute(seconds) }
        guard difference.magnitude >= 5 else { return "now" }
        let length = span(Int64(difference.magnitude))
        return difference > 0 ? "\(length) ago" : "in \(length)"
    }

    /// Returns the largest unit of a duration, such as `45 s`, `3 min`, `5 h`, `2 d`.
    package static func span(_ seconds: Int64) -> String {
        switch max(0, seconds) {
        case ..<60: "\(max(0, seconds)) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

/// Numbers.
extension HTML {
    /// Returns a number with at most one decimal, such as `0.5`, `12` or `1.2 k`.
    package static func short(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        switch abs(value) {
        case ..<0.05: return "0"
        case ..<10: return decimal(value)
        case ..<10_000: return "\(Int(value.rounded()))"
        case ..<1e7: return "\(decimal(value / 1_000)) k"
        case ..<1e12: return "\(decimal(value / 1e6)) M"
        default: return "> 10¹²"
        }
    }

    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, part) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return part == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(part)"
    }
}
