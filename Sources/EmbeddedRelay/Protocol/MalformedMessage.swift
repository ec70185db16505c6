import Nostr

/// Answers messages that could not be parsed.
///
/// A client waits for OK or CLOSED with the id it sent, so an id is extracted even from an otherwise malformed message;
/// without one the answer is a NOTICE.
enum MalformedMessage {
    static func reply(to json: [UInt8], _ error: NostrError) -> RelayMessage {
        let text = RefusalText(.invalid, error.message).message
        guard let elements = (try? JSONValue(json: json))?.array, elements.count > 1 else { return .notice(text) }
        switch elements[0].string {
        case "EVENT", "AUTH":
            guard let id = elements[1]["id"]?.string.flatMap({ try? EventID(hex: $0) }) else { return .notice(text) }
            return .ok(id, accepted: false, message: text)
        case "REQ", "COUNT":
            guard let name = elements[1].string, !name.isEmpty else { return .notice(text) }
            return .closed(subscription: name, message: text)
        default:
            return .notice(text)
        }
    }
}
