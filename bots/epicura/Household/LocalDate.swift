import BotKit
import Foundation

/// Times as a chat reads them.
enum LocalDate {
    /// Such as `2026-11-23 19:30`.
    ///
    /// - Parameter zone: name of the IANA database; UTC if unknown.
    static func text(_ time: UnixTime, _ zone: String) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
        let date = Date(timeIntervalSince1970: Double(time.seconds))
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        func two(_ number: Int?) -> String { (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)" }
        return "\(parts.year ?? 0)-\(two(parts.month))-\(two(parts.day)) \(two(parts.hour)):\(two(parts.minute))"
    }
}
