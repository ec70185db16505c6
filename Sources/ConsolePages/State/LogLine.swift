/// A log line of a worker, or of the supervisor about it.
package struct LogLine: Sendable, Hashable {
    /// The severities of swift-log, in ascending order.
    package enum Level: String, Sendable, Hashable, CaseIterable, Comparable {
        case trace, debug, info, notice, warning, error, critical

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    package let number: Int
    /// Unix milliseconds.
    package let time: Int64
    package let account: String
    package let text: String
    package let level: Level

    package init(number: Int, time: Int64, account: String, text: String) {
        self.number = number
        self.time = time
        self.account = account
        self.text = text
        level = Self.level(of: text)
    }

    /// Returns the level that a line states: the second word of a text line, the member `level` of a JSON line. Lines of
    /// other programs count as `info`.
    private static func level(of text: String) -> Level {
        // The level stands at the beginning, except in JSON, where members are in the order of the alphabet.
        if text.hasPrefix("{") {
            for level in Level.allCases where text.contains("\"level\":\"\(level.rawValue)\"") { return level }
            return .info
        }
        if text.hasPrefix("error:") { return .error }
        let words = text.prefix(80).split(separator: " ", maxSplits: 2)
        return words.count > 1 ? Level(rawValue: String(words[1])) ?? .info : .info
    }
}
