/// Failure counts by reason; the number of reasons and their lengths are bounded.
struct FailureReasons: Sendable {
    /// Count of one reason, with its first and last occurrence in nanoseconds of the run.
    struct Tally: Sendable {
        var count = 0
        var first: UInt64
        var last: UInt64
    }

    /// Counts further reasons once the table is full.
    static let other = "other"
    static let limit = 32
    static let lengthLimit = 160

    private(set) var total = 0
    private(set) var tallies: [String: Tally] = [:]

    mutating func add(_ reason: String, at nanoseconds: UInt64) {
        total += 1
        let key = key(for: reason)
        var tally = tallies[key] ?? Tally(first: nanoseconds, last: nanoseconds)
        tally.count += 1
        tally.first = min(tally.first, nanoseconds)
        tally.last = max(tally.last, nanoseconds)
        tallies[key] = tally
    }

    private func key(for reason: String) -> String {
        let scalars = String.UnicodeScalarView(reason.unicodeScalars.prefix(Self.lengthLimit))
        let short = scalars.isEmpty ? "unknown" : String(scalars)
        return tallies[short] != nil || tallies.count < Self.limit ? short : Self.other
    }
}
