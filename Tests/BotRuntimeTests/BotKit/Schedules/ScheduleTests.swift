import Foundation
import Testing

@testable import BotKit

/// Unix milliseconds of a time in UTC, such as `2026-03-29T01:00`.
private func milliseconds(_ text: String) throws -> Int64 {
    let date = try Date(text + (text.count == 16 ? ":00Z" : "Z"), strategy: .iso8601)
    return Int64(date.timeIntervalSince1970) * 1000
}

struct ScheduleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let cron: String
        var zone = "UTC"
        let after: String
        let next: [String]

        var testDescription: String { "\(cron) in \(zone) after \(after)" }
    }

    private func run(_ row: Row) throws {
        let schedule = try Schedule(cron: row.cron, timeZone: row.zone)
        var time = try milliseconds(row.after)
        for expected in row.next {
            let next = try #require(schedule.next(afterMilliseconds: time))
            #expect(next == (try milliseconds(expected)), "after \(time), expected \(expected)")
            time = next
        }
    }

    @Test(arguments: [
        Row(cron: "* * * * *", after: "2026-01-01T00:00", next: ["2026-01-01T00:01", "2026-01-01T00:02"]),
        Row(cron: "* * * * *", after: "2026-01-01T00:00:59", next: ["2026-01-01T00:01"]),
        Row(cron: "0 0 * * *", after: "2026-12-31T12:00", next: ["2027-01-01T00:00", "2027-01-02T00:00"]),
        Row(
            cron: "*/20 8-9 * * *", after: "2026-01-01T08:50",
            next: ["2026-01-01T09:00", "2026-01-01T09:20", "2026-01-01T09:40", "2026-01-02T08:00"]),
        Row(cron: "5-59/27 3 * * *", after: "2026-01-01T03:05", next: ["2026-01-01T03:32", "2026-01-01T03:59"]),
        Row(cron: "0 0 29 2 *", after: "2026-01-01T00:00", next: ["2028-02-29T00:00", "2032-02-29T00:00"]),
        Row(cron: "59 23 31 * *", after: "2026-01-31T23:59", next: ["2026-03-31T23:59", "2026-05-31T23:59"]),
        // A day of the month or a day of the week.
        Row(
            cron: "0 12 3 * mon", after: "2026-06-01T12:00",
            next: ["2026-06-03T12:00", "2026-06-08T12:00", "2026-06-15T12:00"]),
        Row(
            cron: "0 0 * jan,JUL sun", after: "2026-01-19T00:00",
            next: ["2026-01-25T00:00", "2026-07-05T00:00", "2026-07-12T00:00"]),
        Row(cron: "0 0 * * 7", after: "2026-01-19T00:00", next: ["2026-01-25T00:00"]),
        Row(cron: "0 0 * * fri-sat", after: "2026-01-19T00:00", next: ["2026-01-23T00:00", "2026-01-24T00:00"]),
        Row(cron: "0 9 * * 1-5", zone: "Asia/Kolkata", after: "2026-01-02T03:30", next: ["2026-01-05T03:30"]),
    ])
    func computesCronTimes(row: Row) throws { try run(row) }

    @Test(arguments: [
        // Work days at nine, over the weekend in which summer time begins (01:00 UTC on the 29th).
        Row(
            cron: "0 9 * * 1-5", zone: "Europe/Berlin", after: "2026-03-27T07:59",
            next: ["2026-03-27T08:00", "2026-03-30T07:00"]),
        // 02:30 does not exist on the 29th: the run is at 03:00.
        Row(
            cron: "30 2 * * *", zone: "Europe/Berlin", after: "2026-03-27T12:00",
            next: ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"]),
        // Four skipped times make one run.
        Row(
            cron: "*/15 2 * * *", zone: "Europe/Berlin", after: "2026-03-28T12:00",
            next: ["2026-03-29T01:00", "2026-03-30T00:00", "2026-03-30T00:15"]),
        // Half-hour schedules follow elapsed time.
        Row(
            cron: "*/30 * * * *", zone: "Europe/Berlin", after: "2026-03-29T00:20",
            next: ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"]),
        // 02:30 occurs twice on October 25: the first one counts.
        Row(
            cron: "30 2 * * *", zone: "Europe/Berlin", after: "2026-10-24T12:00",
            next: ["2026-10-25T00:30", "2026-10-26T01:30"]),
        Row(
            cron: "30 * * * *", zone: "Europe/Berlin", after: "2026-10-25T00:00",
            next: ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"]),
        Row(
            cron: "30 2 * * *", zone: "America/New_York", after: "2026-03-08T00:00",
            next: ["2026-03-08T07:00", "2026-03-09T06:30"]),
        Row(
            cron: "30 1 * * *", zone: "America/New_York", after: "2026-11-01T00:00",
            next: ["2026-11-01T05:30", "2026-11-02T06:30"]),
        Row(
            cron: "15 * * * *", zone: "America/New_York", after: "2026-11-01T05:00",
            next: ["2026-11-01T05:15", "2026-11-01T06:15", "2026-11-01T07:15"]),
        Row(
            cron: "15 * 1 11 *", zone: "America/New_York", after: "2026-11-02T04:20", next: ["2027-11-01T04:15"]),
        // Half an hour is skipped.
        Row(
            cron: "15 2 * * *", zone: "Australia/Lord_Howe", after: "2026-10-03T00:00",
            next: ["2026-10-03T15:30", "2026-10-04T15:15"]),
        Row(
            cron: "*/20 * * * *", zone: "Australia/Lord_Howe", after: "2026-04-04T14:45",
            next: ["2026-04-04T15:10", "2026-04-04T15:30", "2026-04-04T15:50"]),
        // Summer time begins at midnight: the day has no midnight.
        Row(
            cron: "0 0 * * *", zone: "Asia/Beirut", after: "2026-03-28T12:00",
            next: ["2026-03-28T22:00", "2026-03-29T21:00"]),
    ])
    func handlesClockChanges(row: Row) throws { try run(row) }

    @Test(arguments: [
        ("", "found 0"), ("* * * *", "found 4"), ("* * * * * *", "found 6"),
        ("60 * * * *", "\"60\": invalid minute: expected 0 to 59"), ("* 24 * * *", "\"24\": invalid hour"),
        ("* * 0 * *", "\"0\": invalid day of the month"),
        ("* * * 13 *", "\"13\": invalid month: expected 1 to 12 or jan to dec"),
        ("* * * * 8", "\"8\": invalid day of the week: expected 0 to 7 or sun to sat"),
        ("5-1 * * * *", "ends before it begins"),
        ("*/0 * * * *", "the step must be a number above 0"), ("5/15 * * * *", "write"),
        ("1-2-3 * * * *", "must have two ends"),
        ("*/2/3 * * * *", "at most one step"), ("1, * * * *", "\"\": invalid minute"), ("-1 * * * *", "invalid minute"),
        ("* * * foo *", "\"foo\": invalid month"), ("0 0 30 2 *", "never occurs"),
        ("0 0 31 4,6,9,11 *", "never occurs"),
        ("１ * * * *", "invalid minute"), ("99999999999999999999 * * * *", "invalid minute"),
    ])
    func rejectsWrongExpressions(text: String, reason: String) {
        let error = #expect(throws: BotError.self) { try Schedule(cron: text) }
        #expect(error?.code == .invalidSchedule)
        #expect(error?.message.contains(reason == "write" ? "such as 5-59" : reason) == true, "\(error?.message ?? "")")
    }

    @Test func rejectsUnknownTimeZones() {
        for name in ["", "Europe/Berln", "CEST5"] {
            #expect(throws: BotError.self) { try Schedule(cron: "* * * * *", timeZone: name) }
        }
    }

    @Test func intervalsRunAtMultiples() {
        let hour = Schedule.every(.seconds(3600))
        #expect(hour.next(afterMilliseconds: 0) == 3_600_000)
        #expect(hour.next(afterMilliseconds: 3_599_999) == 3_600_000)
        #expect(hour.next(afterMilliseconds: 3_600_000) == 7_200_000)
        #expect(hour.next(afterMilliseconds: -1) == 0)
        #expect(Schedule.every(.milliseconds(1)).next(afterMilliseconds: 5) == 1000)
        #expect(Schedule.every(.seconds(Int64.max)).next(afterMilliseconds: 5) == .max)
        #expect(Schedule.every(.seconds(Int64.max)).next(afterMilliseconds: .max) == nil)
    }

    /// Minute by minute over a year: an hourly expression runs exactly at its minute.
    @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
    func hourlyCronNeverSkipsAnHour(zone: String) throws {
        let rules = try TimeZoneRules(zone)
        let schedule = try Schedule(cron: "10,40 * * * *", timeZone: zone)
        var time = try milliseconds("2026-01-01T00:00")
        let end = try milliseconds("2027-01-01T00:00")
        var expected = time
        while time < end {
            repeat {
                expected += 60_000
            } while ![10, 40].contains(Int(rules.localTime(at: UnixTime(milliseconds: expected)).minute % 60))
            time = try #require(schedule.next(afterMilliseconds: time))
            guard time == expected else {
                Issue.record("\(time) is not \(expected)")
                return
            }
        }
    }
}
