package import Nostr

/// Parser of dates such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the time; nil for any other form.
    package static func unixTime(_ text: String) -> UnixTime? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", let day = Self.number(parts[1], digits: 2), (1...31).contains(day),
            let month = Self.months.firstIndex(of: String(parts[2])), let year = Self.number(parts[3], digits: 4)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = Self.number(clock[0], digits: 2), hour < 24,
            let minute = Self.number(clock[1], digits: 2), minute < 60,
            let second = Self.number(clock[2], digits: 2), second <= 60
        else { return nil }
        return UnixTime(Self.days(year, Int64(month) + 1, day) * 86_400 + hour * 3600 + minute * 60 + second)
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        text.utf8.count == digits && text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
    }

    /// Days from 1970-01-01 in the Gregorian calendar; years of at most four digits.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years begin in March, so that the leap day is their last.
        let shifted = month > 2 ? year : year - 1
        let century = shifted >= 0 ? shifted / 400 : -1
        let yearOfEra = shifted - century * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return century * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
