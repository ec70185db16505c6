/// The latest canaries of a group; written only by the schedule.
struct SentLog: Codable, Sendable, Hashable {
    struct Canary: Codable, Sendable, Hashable {
        var number: Int64
        /// The time of sending, in Unix milliseconds.
        var at: Int64
    }

    var series: String
    var next: Int64 = 1
    /// The latest canaries, in ascending order of number.
    var latest: [Canary] = []

    init(series: String) {
        self.series = series
    }

    /// Records the next canary and returns its number.
    mutating func send(at now: Int64, window: Int) -> Int64 {
        let number = next
        next += 1
        latest.append(Canary(number: number, at: now))
        latest.removeFirst(max(0, latest.count - window))
        return number
    }

    func time(of number: Int64) -> Int64? { latest.first { $0.number == number }?.at }

    /// Returns the numbers of the canaries whose timeout has passed.
    func overdue(at now: Int64, timeout: Int64) -> [Int64] {
        latest.filter { now - $0.at > timeout }.map(\.number)
    }
}
