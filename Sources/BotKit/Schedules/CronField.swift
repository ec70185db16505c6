/// One field of a cron expression: the set of matching values.
struct CronField: Sendable, Hashable {
    /// The values that a field may have.
    struct Range: Sendable {
        let title: String
        let values: ClosedRange<Int>
        /// The names of values, starting with the lowest.
        var names: [String] = []

        static let minute = Range(title: "minute", values: 0...59)
        static let hour = Range(title: "hour", values: 0...23)
        static let dayOfMonth = Range(title: "day of the month", values: 1...31)
        static let month = Range(
            title: "month", values: 1...12,
            names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
        /// 7 is Sunday, too.
        static let dayOfWeek = Range(
            title: "day of the week", values: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
    }

    /// The matching values, in ascending order.
    let values: [Int]
    /// Whether the field starts with `*`: then it does not restrict the day.
    let isStar: Bool

    init(_ text: Substring, _ range: Range) throws(BotError) {
        var found: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            found.formUnion(try Self.values(part, range))
        }
        values = found.sorted()
        isStar = text.first == "*"
    }

    func contains(_ value: Int) -> Bool { values.contains(value) }

    private static func values(_ part: Substring, _ range: Range) throws(BotError) -> [Int] {
        let halves = part.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { throw error(part, range, "expected at most one step") }
        let bounds = try Self.bounds(halves[0], range, of: part)
        guard halves.count == 2 else { return Array(bounds) }
        guard halves[0] == "*" || halves[0].contains("-") else {
            throw error(
                part, range, "expected * or a range before the step, such as \(halves[0])-\(range.values.upperBound)")
        }
        guard let step = Int(halves[1]), step > 0, halves[1].allSatisfy(\.isNumber) else {
            throw error(part, range, "the step must be a number above 0")
        }
        return Array(stride(from: bounds.lowerBound, through: bounds.upperBound, by: step))
    }

    private static func bounds(
        _ text: Substring, _ range: Range, of part: Substring
    ) throws(BotError) -> ClosedRange<Int> {
        if text == "*" { return range.values }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count <= 2, let first = ends.first, let last = ends.last else {
            throw error(part, range, "a range must have two ends")
        }
        let lower = try value(first, range, of: part)
        let upper = try value(last, range, of: part)
        guard lower <= upper else { throw error(part, range, "the range ends before it begins") }
        return lower...upper
    }

    private static func value(_ text: Substring, _ range: Range, of part: Substring) throws(BotError) -> Int {
        if let index = range.names.firstIndex(of: text.lowercased()) { return range.values.lowerBound + index }
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(text), range.values.contains(number)
        else {
            let names = range.names.isEmpty ? "" : " or \(range.names[0]) to \(range.names[range.names.count - 1])"
            throw error(part, range, "expected \(range.values.lowerBound) to \(range.values.upperBound)\(names)")
        }
        return number
    }

    private static func error(_ part: Substring, _ range: Range, _ reason: String) -> BotError {
        BotError(.invalidSchedule, "\"\(part.prefix(20))\": invalid \(range.title): \(reason)")
    }
}
