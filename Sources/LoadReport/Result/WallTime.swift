/// A UTC time with millisecond precision; in JSON as `2026-11-21T23:45:01.250Z` (RFC 3339).
package struct WallTime: Hashable, Sendable {
    package let unixMilliseconds: Int64

    /// Clamped to the years 1970 to 9999.
    package init(unixMilliseconds: Int64) {
        self.unixMilliseconds = min(max(unixMilliseconds, 0), 253_402_300_799_999)
    }

    /// Returns the time advanced by a duration.
    package func advanced(by duration: Duration) -> WallTime {
        WallTime(unixMilliseconds: unixMilliseconds + Int64(duration.loadNanoseconds / 1_000_000))
    }

    package var unixSeconds: Int64 { unixMilliseconds / 1_000 }
}

extension WallTime: CustomStringConvertible {
    package var description: String { text(milliseconds: true) }

    /// Formats the time with or without milliseconds.
    package func text(milliseconds: Bool) -> String {
        let (days, second) = unixSeconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = Self.civil(days: days)
        let date = "\(Self.pad(year, 4))-\(Self.pad(month, 2))-\(Self.pad(day, 2))"
        let time = "\(Self.pad(second / 3_600, 2)):\(Self.pad(second / 60 % 60, 2)):\(Self.pad(second % 60, 2))"
        return date + "T" + time + (milliseconds ? "." + Self.pad(unixMilliseconds % 1_000, 3) : "") + "Z"
    }

    static func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Returns the date of a day number since 1970-01-01 (Howard Hinnant's `civil_from_days`, years from March).
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.quotientAndRemainder(dividingBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension WallTime: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = WallTime(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a time like 2026-11-21T23:45:01.250Z, found \(text)")
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Parses exactly the format of `description`.
    init?(_ text: String) {
        let numbers = text.split(whereSeparator: { !$0.isASCII || !$0.isNumber }).compactMap { Int64($0) }
        guard text.utf8.count == 24, numbers.count == 7, (1...12).contains(numbers[1]) else { return nil }
        let seconds = numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
        let days = Self.days(year: numbers[0], month: numbers[1], day: numbers[2])
        self.init(unixMilliseconds: (days * 86_400 + seconds) * 1_000 + numbers[6])
        guard description == text else { return nil }
    }
}
