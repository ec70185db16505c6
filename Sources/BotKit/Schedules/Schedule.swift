/// When something happens again and again.
public struct Schedule: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// Milliseconds, at least 1000.
        case every(Int64)
        case cron(CronExpression, TimeZoneRules)
    }

    let kind: Kind

    /// Every so often, at multiples of the interval since 1970 (UTC), so that a restart moves nothing: every hour is at
    /// each full hour. Intervals below a second count as one second.
    public static func every(_ interval: Duration) -> Schedule {
        Schedule(kind: .every(max(1000, interval.wholeMilliseconds)))
    }

    /// As a cron expression says; for expressions that stand in a program, which ends if it is wrong. What stands in
    /// settings goes to ``init(cron:timeZone:)``.
    public static func cron(_ expression: String, timeZone: String = "UTC") -> Schedule {
        do { return try Schedule(cron: expression, timeZone: timeZone) } catch {
            preconditionFailure("a schedule in the program is wrong: \(error)")
        }
    }

    /// At the minutes that a cron expression names, by the clocks of a time zone.
    ///
    /// Five fields: minute (0–59), hour (0–23), day of the month (1–31), month (1–12 or `jan`–`dec`), day of the week
    /// (0–7 or `sun`–`sat`; 0 and 7 are Sunday). A field is `*`, a value, a range `1-5`, either of them with a step
    /// (`*/15`, `8-18/2`), or a list of these. If both days are given, one of them is enough.
    ///
    /// **When clocks change:** an expression whose hours are `*` goes by the time that really passes: it leaves out the
    /// minutes that are skipped, and runs in both passes of an hour that comes twice. Any other expression keeps its
    /// count: a time that is skipped runs at the first instant after the gap, once, and one that comes twice runs at
    /// its first.
    ///
    /// - Parameter timeZone: a name of the IANA data base, such as `Europe/Berlin`.
    ///
    /// Throws ``BotError/Code/invalidSchedule``.
    public init(cron expression: String, timeZone: String = "UTC") throws(BotError) {
        let expression = try CronExpression(expression)
        kind = .cron(expression, try TimeZoneRules(timeZone))
    }

    private init(kind: Kind) {
        self.kind = kind
    }

    /// The first time after another, both Unix milliseconds; nil if none comes within the next ten years.
    package func next(afterMilliseconds time: Int64) -> Int64? {
        switch kind {
        case .every(let interval):
            let remainder = time % interval
            let missing = remainder < 0 ? -remainder : interval - remainder
            let (next, overflow) = time.addingReportingOverflow(missing)
            return overflow ? nil : next
        case .cron(let expression, let zone):
            let seconds = time / 1000 - (time % 1000 < 0 ? 1 : 0)
            return expression.next(after: seconds, in: zone).map { $0 * 1000 }
        }
    }
}
