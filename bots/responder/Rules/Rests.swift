/// Until when a rule rests in one chat, and for whom; as text, to be kept among a bot's values.
struct Rests: Hashable, Sendable {
    /// Unix seconds.
    private(set) var ends: [String: Int64] = [:]

    init() {}

    /// What ``text`` wrote; lines that are none are left out.
    init(text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2, let end = Int64(parts[1]) { ends[String(parts[0])] = end }
        }
    }

    var text: String { ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n") }

    /// False while it rests for `who`; otherwise it rests from now on. What is over is forgotten.
    mutating func begin(_ who: String, at now: Int64, seconds: Int64) -> Bool {
        // A clock that was set back must not make a rest longer than it is.
        ends = ends.filter { $0.value > now && $0.value - now <= seconds }
        guard ends[who] == nil else { return false }
        ends[who] = now + seconds
        return true
    }
}
