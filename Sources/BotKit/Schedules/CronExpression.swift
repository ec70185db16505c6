/// A cron expression of five fields; ``Schedule/init(cron:timeZone:)`` describes the syntax.
struct CronExpression: Sendable, Hashable {
    private let minutes: CronField
    private let hours: CronField
    private let daysOfMonth: CronField
    private let months: CronField
    private let daysOfWeek: CronField

    /// Throws `BotError.Code.invalidSchedule`.
    init(_ text: String) throws(BotError) {
        let fields = text.split(whereSeparator: \.isWhitespace)
        guard fields.count == 5 else {
            throw BotError(
                .invalidSchedule,
                "\"\(text.prefix(40))\": expected 5 fields (minute, hour, day, month, weekday) as in 0 9 * * 1-5, found \(fields.count)"
            )
        }
        minutes = try CronField(fields[0], .minute)
        hours = try CronField(fields[1], .hour)
        daysOfMonth = try CronField(fields[2], .dayOfMonth)
        months = try CronField(fields[3], .month)
        daysOfWeek = try CronField(fields[4], .dayOfWeek)
        guard hasDay else {
            throw BotError(
                .invalidSchedule, "\"\(text.prefix(40))\" never occurs: none of its months has such a day")
        }
    }

    /// Returns the first time after the given one; nil if none comes within ten years.
    func next(after time: UnixTime, in zone: TimeZoneRules) -> UnixTime? {
        hours.isEveryHour ? nextByElapsedTime(time, zone) : nextByLocalTime(time, zone)
    }

    // MARK: Days

    private static let longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    private static let horizonDays: Int64 = 3653

    private var hasDay: Bool {
        !daysOfWeek.isStar
            || months.values.contains { month in daysOfMonth.values.contains { $0 <= Self.longestMonths[month - 1] } }
    }

    private func includesDay(of time: CivilTime) -> Bool {
        let date = time.date
        guard months.contains(date.month) else { return false }
        let isWeekday = daysOfWeek.contains(time.weekday) || (time.weekday == 0 && daysOfWeek.contains(7))
        let isDay = daysOfMonth.contains(date.day)
        return daysOfMonth.isStar || daysOfWeek.isStar ? isDay && isWeekday : isDay || isWeekday
    }

    // MARK: By local and by elapsed time

    /// Returns the next match of an expression that excludes some hours: tries each of its local times, at the instant
    /// that represents it.
    private func nextByLocalTime(_ time: UnixTime, _ zone: TimeZoneRules) -> UnixTime? {
        let first = zone.localTime(at: time).day - 1
        for day in first...(first + Self.horizonDays) where includesDay(of: CivilTime(day: day, minute: 0)) {
            for hour in hours.values {
                for minute in minutes.values {
                    let instant = zone.instant(of: CivilTime(day: day, minute: Int64(hour * 60 + minute)))
                    if instant > time { return instant }
                }
            }
        }
        return nil
    }

    /// Returns the next match of an expression that includes every hour, by elapsed time: each step is as long as
    /// possible without missing a match.
    private func nextByElapsedTime(_ time: UnixTime, _ zone: TimeZoneRules) -> UnixTime? {
        var instant = time - (time.seconds % 60 + 60) % 60 + 60
        let end = instant + Self.horizonDays * 86_400
        while instant < end {
            let local = zone.localTime(at: instant)
            guard includesDay(of: local) else {
                instant = max(instant + 60, zone.instant(of: CivilTime(day: local.day + 1, minute: 0)))
                continue
            }
            let minute = Int(local.minute % 60)
            if minutes.contains(minute) { return instant }
            // Offsets change at full or half hours of local time, so advance no further than that at once.
            instant += Int64(nextMinute(after: minute) - minute) * 60
        }
        return nil
    }

    /// Returns the next listed minute or the next half hour, whichever is first.
    private func nextMinute(after minute: Int) -> Int {
        let half = minute < 30 ? 30 : 60
        return min(half, minutes.values.first { $0 > minute } ?? half)
    }
}

extension CronField {
    /// Whether the field includes all hours.
    fileprivate var isEveryHour: Bool { values.count == 24 }
}
