/// A worker's answer to `why`: the fates of events.
package struct EventFates: Codable, Hashable, Sendable {
    package struct Entry: Codable, Hashable, Sendable {
        package var at: Int64
        package var id: String?
        package var wrapper: String?
        package var chat: String?
        package var bot: String?
        package var fate: String
        package var reason: String
        package var detail: String
        package var sentence: String
        package var advice: String
        package var change: String?
    }

    package var query: String
    /// The answer as text, as `pikabot why` prints it.
    package var lines: [String]
    /// The arrival times of matching events that are not completed.
    package var waitingSince: [Int64]
    package var events: [Entry]

    private enum CodingKeys: String, CodingKey {
        case query, lines, events
        case waitingSince = "waiting_since"
    }
}
