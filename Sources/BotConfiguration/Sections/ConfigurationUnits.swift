import BotDispatch
import BotKit

/// Parses `1s..30s`; nil if a bound is not a duration or the upper is below the lower one.
func durationRange(configurationText text: String) -> ClosedRange<Duration>? {
    let halves = text.split(separator: "..", omittingEmptySubsequences: false)
    guard halves.count == 2, let lower = Duration(configurationText: halves[0]),
        let upper = Duration(configurationText: halves[1]), lower <= upper
    else { return nil }
    return lower...upper
}

extension Rate {
    /// Parses `6/min`; nil for anything else, including zero.
    init?(configurationText text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let unit = Unit(rawValue: String(halves[1])),
            halves[0].allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(halves[0]), count > 0,
            count <= 1_000_000
        else { return nil }
        self.init(count, per: unit)
    }
}

private let sizeUnits = [("GiB", 1 << 30), ("MiB", 1 << 20)]

/// Parses `100MiB` or `2GiB`; nil for anything else, zero, and more than 1024 GiB.
func byteCount(configurationText text: String) -> Int? {
    guard let (name, unit) = sizeUnits.first(where: { text.hasSuffix($0.0) }) else { return nil }
    let digits = text.dropLast(name.count)
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(digits), count > 0 else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
    return overflow || bytes > 1 << 40 ? nil : bytes
}

/// Returns the text for a whole number of MiB; `never` for nil.
func sizeText(_ bytes: Int?) -> String {
    guard let bytes else { return "never" }
    let (name, unit) = sizeUnits.first { bytes.isMultiple(of: $0.1) } ?? sizeUnits[1]
    return "\(bytes / unit)\(name)"
}

/// Parses a host name as in DNS and `Host` headers, such as `bots.example`.
package func hostName(configurationText text: String) -> String? {
    let isName = text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & 0xdf) || "-_.".utf8.contains(byte)
    }
    let edges = [text.first, text.last].allSatisfy { $0.map { $0.isLetter || $0.isNumber } ?? false }
    return isName && edges && text.utf8.count <= 253 ? text : nil
}

extension ListenAddress {
    /// Parses `127.0.0.1:9464`, `localhost:0` or `[::1]:9464`.
    package init?(configurationText text: String) {
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
