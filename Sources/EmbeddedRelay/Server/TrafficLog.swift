import Logging
import Nostr

/// Logs client messages and replies, one line each, for development relays.
struct TrafficLog: Sendable {
    private let logger: Logger
    private static let maximumFilterBytes = 512
    private static let maximumContentCharacters = 140

    init(_ logger: Logger) {
        self.logger = logger
    }

    func connected(_ address: String) { write("connect ip=\(address)") }
    func disconnected(_ address: String) { write("disconnect ip=\(address)") }

    func requested(_ filters: [Filter], by address: String) {
        for filter in filters {
            let text = String(decoding: filter.json(), as: UTF8.self)
            write("req ip=\(address) filter=\(Self.cut(text, Self.maximumFilterBytes))")
        }
    }

    func received(_ event: Event, from address: String) {
        let content = Self.cut(Self.line(event.content), Self.maximumContentCharacters)
        write("event_recv ip=\(address) \(Self.summary(of: event)) content=\(content)")
    }

    func committed(_ batch: [GroupCommit.Committed]) {
        for case (let submission, .stored) in batch { write("event_saved \(Self.summary(of: submission.event))") }
    }

    private func write(_ line: String) { logger.info("[relay/ws] \(line)") }

    private static func summary(of event: Event) -> String {
        let tags = ["h", "e", "p", "d"].compactMap { name in
            event.firstTag(name)?.value.map { "\(name)=\(Self.line($0))" }
        }
        return "kind=\(event.kind) id=\(event.id.hex) pubkey=\(event.pubkey.hex) "
            + "tags=\(tags.isEmpty ? "-" : tags.joined(separator: ","))"
    }

    private static func cut(_ text: String, _ length: Int) -> String {
        text.count > length ? text.prefix(length) + "...(truncated)" : text
    }

    /// Escapes a text: clients must not be able to forge log lines or to send terminal control sequences.
    private static func line(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: line += scalar.escaped(asASCII: true)
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
