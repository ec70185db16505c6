import Foundation
package import Nostr

/// A date and a time of day as a household writes them, without a time zone.
package struct LocalTime: Hashable, Sendable, Codable, Comparable {
    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int

    /// Throws `ApplianceError.Code.malformed` for a date that the Gregorian calendar lacks; years 2000 to 2199.
    package init(year: Int, month: Int, day: Int, hour: Int, minute: Int) throws(ApplianceError) {
        let lengths = [31, Self.isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (2000...2199).contains(year), (1...12).contains(month), (1...lengths[month - 1]).contains(day),
            (0...23).contains(hour), (0...59).contains(minute)
        else { throw ApplianceError(.malformed, "expected a date and a time such as 2026-11-23 19:30") }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
    }

    /// Reads `2026-11-23 19:30`.
    package init(parsing text: String) throws(ApplianceError) {
        let parts = text.split(whereSeparator: { "-: T".contains($0) }).map { part in
            part.utf8.count <= 4 && part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) ? Int(part) : nil
        }
        guard text.utf8.count <= 20, parts.count == 5, let year = parts[0], let month = parts[1], let day = parts[2],
            let hour = parts[3], let minute = parts[4]
        else { throw ApplianceError(.malformed, "expected a date and a time such as 2026-11-23 19:30") }
        try self.init(year: year, month: month, day: day, hour: hour, minute: minute)
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    package static func < (left: LocalTime, right: LocalTime) -> Bool { left.localSeconds < right.localSeconds }

    /// Such as `2026-11-23 19:30`.
    package var text: String {
        let pad = { (number: Int) in number < 10 ? "0\(number)" : String(number) }
        return "\(self.year)-\(pad(self.month))-\(pad(self.day)) \(pad(self.hour)):\(pad(self.minute))"
    }

    /// Seconds since 1970 as if the time were UTC; Howard Hinnant's days_from_civil.
    var localSeconds: Int64 {
        let year = Int64(self.month <= 2 ? self.year - 1 : self.year)
        let era = year / 400
        let yearOfEra = year - era * 400
        let shiftedMonth = Int64(self.month > 2 ? self.month - 3 : self.month + 9)
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + Int64(self.day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return days * 86_400 + Int64(self.hour) * 3_600 + Int64(self.minute) * 60
    }

    /// The first instant with this local time; the end of the gap if the clock skips it.
    ///
    /// - Parameter zone: name of the IANA database, such as `Asia/Kolkata`.
    ///
    /// Throws `ApplianceError.Code.malformed` for an unknown zone.
    package func instant(in zone: String) throws(ApplianceError) -> UnixTime {
        guard (1...64).contains(zone.utf8.count), let zone = TimeZone(identifier: zone) else {
            throw ApplianceError(.malformed, "expected a time zone such as Asia/Kolkata")
        }
        func offset(_ time: UnixTime) -> Int64 {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds))))
        }
        let local = UnixTime(self.localSeconds)
        // Offsets are at most a day, and do not change twice within two days.
        let (before, after) = (offset(local - 86_400), offset(local + 86_400))
        let candidates = [local - max(before, after), local - min(before, after)]
        if let first = candidates.first(where: { $0 + offset($0) == local }) { return first }
        var (low, high) = (local - 86_400, local + 86_400)
        while high.seconds(since: low) > 1 {
            let middle = low + high.seconds(since: low) / 2
            if offset(middle) == before { low = middle } else { high = middle }
        }
        return high
    }
}
