/// A recurring time.
public struct Schedule: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// A fixed interval in milliseconds, at least 1000.
        case every(Int64)
        case cron(CronExpression, TimeZoneRules)
    }

    let kind: Kind

    /// Returns a schedule at multiples of the interval since 1970 (UTC), so that a restart does not shift it: an
    /// interval of one hour means each full hour. Intervals below a second count as one second.
    public static func every(_ interval: Duration) -> Schedule {
        Schedule(kind: .every(max(1000, interval.wholeMilliseconds)))
    }

    /// Returns a schedule for a cron expression that is part of the program; traps if it is invalid. Use
    /// ``init(cron:timeZone:)`` for expressions in settings.
    public static func cron(_ expression: String, timeZone: String = "UTC") -> Schedule {
        do { return try Schedule(cron: expression, timeZone: timeZone) } catch {
            preconditionFailure("invalid schedule in the program: \(error)")
        }
    }

    /// Creates a schedule from a cron expression in a time zone.
    ///
    /// Five fields: minute (0–59), hour (0–23), day of the month (1–31), month (1–12 or `jan`–`dec`), day of the week
    /// (0–7 or `sun`–`sat`; 0 and 7 are Sunday). A field is `*`, a value, a range `1-5`, either of them with a step
    /// (`*/15`, `8-18/2`), or a list of these. If both day fields are restricted, a match of either suffices.
    ///
    /// **When the UTC offset changes:** an expression whose hours are `*` follows elapsed time: it omits skipped
    /// minutes, and runs in both passes of a repeated hour. Any other expression keeps its number of runs: a skipped
    /// time runs once, at the first instant after the gap, and a repeated time runs in its first pass.
    ///
    /// `timeZone` is a name of the IANA time zone database, such as `Europe/Berlin`.
    ///
    /// Throws `BotError.Code.invalidSchedule`.
    public init(cron expression: String, timeZone: String = "UTC") throws(BotError) {
        let expression = try CronExpression(expression)
        kind = .cron(expression, try TimeZoneRules(timeZone))
    }

    private init(kind: Kind) {
        self.kind = kind
    }

    /// Returns the first time after the given one, both in Unix milliseconds; nil if none comes within ten years.
    package func next(afterMilliseconds time: Int64) -> Int64? {
        switch kind {
        case .every(let interval):
            let remainder = time % interval
            let missing = remainder < 0 ? -remainder : interval - remainder
            let (next, overflow) = time.addingReportingOverflow(missing)
            return overflow ? nil : next
        case .cron(let expression, let zone):
            let second = UnixTime(time / 1000 - (time % 1000 < 0 ? 1 : 0))
            return expression.next(after: second, in: zone)?.milliseconds
        }
    }
}
