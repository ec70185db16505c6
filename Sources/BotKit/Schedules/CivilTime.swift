import Foundation

/// A local date and time to the minute, in the proleptic Gregorian calendar.
struct CivilTime: Sendable, Hashable {
    /// Days since 1970-01-01.
    var day: Int64
    /// Minutes since midnight.
    var minute: Int64

    init(day: Int64, minute: Int64) {
        self.day = day
        self.minute = minute
    }

    /// - Parameter seconds: local time as seconds since 1970, as if it were UTC.
    init(localSeconds seconds: Int64) {
        let minutes = Self.floor(seconds, 60)
        day = Self.floor(minutes, 1440)
        minute = minutes - day * 1440
    }

    var localSeconds: Int64 { day * 86_400 + minute * 60 }

    /// The day of the week; 0 is Sunday.
    var weekday: Int { Int(((day + 4) % 7 + 7) % 7) }

    /// The date by Howard Hinnant's civil_from_days.
    var date: (year: Int64, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = Self.floor(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, Int(month), Int(ofYear - (153 * shiftedMonth + 2) / 5 + 1))
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

/// The UTC offsets of a time zone.
struct TimeZoneRules: Sendable, Hashable {
    private let zone: TimeZone

    /// Throws `BotError.Code.invalidSchedule`.
    init(_ name: String) throws(BotError) {
        guard !name.isEmpty, let zone = TimeZone(identifier: name) else {
            throw BotError(
                .invalidSchedule, "\"\(name.prefix(40))\": unknown time zone; write a name such as Europe/Berlin or UTC"
            )
        }
        self.zone = zone
    }

    /// Returns the offset in seconds at an instant.
    func offset(at time: UnixTime) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds))))
    }

    func localTime(at time: UnixTime) -> CivilTime { CivilTime(localSeconds: (time + offset(at: time)).seconds) }

    /// Returns the first instant with this local time; the end of the gap if local time skips it.
    func instant(of time: CivilTime) -> UnixTime {
        let local = UnixTime(time.localSeconds)
        // Offsets are at most a day, and do not change twice within two days.
        let (before, after) = (offset(at: local - 86_400), offset(at: local + 86_400))
        let matching = [local - max(before, after), local - min(before, after)].filter {
            $0 + offset(at: $0) == local
        }
        if let first = matching.min() { return first }
        return transition(from: local - 86_400, to: local + 86_400)
    }

    /// Returns the first instant with the second offset, between two instants with different offsets.
    private func transition(from start: UnixTime, to end: UnixTime) -> UnixTime {
        let before = offset(at: start)
        var (low, high) = (start, end)
        while high.seconds(since: low) > 1 {
            let middle = low + high.seconds(since: low) / 2
            if offset(at: middle) == before { low = middle } else { high = middle }
        }
        return high
    }
}
