import Nostr

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Formats the header `Date`.
enum DateHeader {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); nil outside the years 0 to 9999, which
    /// the format cannot express.
    static func text(_ time: UnixTime) -> String? {
        var seconds = time_t(time.seconds)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil, days.indices.contains(Int(parts.tm_wday)),
            months.indices.contains(Int(parts.tm_mon)), (-1900...8099).contains(parts.tm_year)
        else { return nil }
        let day = digits(parts.tm_mday, 2)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }.joined(separator: ":")
        let year = digits(parts.tm_year + 1900, 4)
        return "\(days[Int(parts.tm_wday)]), \(day) \(months[Int(parts.tm_mon)]) \(year) \(clock) GMT"
    }

    private static func digits(_ number: Int32, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
