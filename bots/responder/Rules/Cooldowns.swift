import BotKit

/// The active cooldowns of a rule in one chat; encoded as text, to be stored among a bot's values.
struct Cooldowns: Hashable, Sendable {
    /// The end of each cooldown.
    private(set) var ends: [String: UnixTime] = [:]

    init() {}

    /// Parses the output of ``text``, ignoring invalid lines.
    init(text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2, let end = Int64(parts[1]) { ends[String(parts[0])] = UnixTime(end) }
        }
    }

    var text: String { ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n") }

    /// Starts a cooldown for `who` and returns true; returns false if one is active. Expired cooldowns are removed.
    mutating func begin(_ who: String, at now: UnixTime, seconds: Int64) -> Bool {
        // A clock that was set back must not extend a cooldown.
        ends = ends.filter { $0.value > now && $0.value.seconds(since: now) <= seconds }
        guard ends[who] == nil else { return false }
        ends[who] = now + seconds
        return true
    }
}
