import MLS
import Nostr

/// The part of the call in progress that a later process needs.
struct LiveCallRecord: Sendable, Hashable {
    let callID: String
    let groupID: GroupID
    let peer: PublicKey
    /// The start of the call.
    let startedAt: UnixTime
    let isAnswered: Bool

    /// The stored form: JSON, version 1.
    var memo: Secret {
        let json: JSONValue = [
            "v": 1, "call": .string(self.callID), "group": .string(self.groupID.hex),
            "peer": .string(self.peer.hex), "at": .integer(self.startedAt.seconds), "answered": .bool(self.isAnswered),
        ]
        return Secret(json.json())
    }
}

extension LiveCallRecord {
    /// Parses ``memo``; nil for any other content.
    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo),
            let callID = json["call"]?.string, let groupID = json["group"]?.string.flatMap({ GroupID(hex: $0) }),
            let peer = json["peer"]?.string.flatMap({ try? PublicKey(hex: $0) }), let at = json["at"]?.integer,
            let isAnswered = json["answered"]?.bool
        else { return nil }
        self.init(callID: callID, groupID: groupID, peer: peer, startedAt: UnixTime(at), isAnswered: isAnswered)
    }
}

/// The stored form of the call history: JSON, version 1.
enum CallTimeline {
    /// The maximum number of entries; older ones are dropped.
    static let capacity = 100

    static func memo(_ entries: [AppState.CallTimelineEntry]) -> Secret {
        let json: JSONValue = ["v": 1, "entries": .array(entries.map(self.json))]
        return Secret(json.json())
    }

    /// Parses a memo; nil for any other content.
    static func entries(memo: Secret) -> [AppState.CallTimelineEntry]? {
        guard let json = JSONValue(memo: memo),
            let stored = json["entries"]?.array
        else { return nil }
        let entries = stored.compactMap(self.entry)
        return entries.count == stored.count ? entries : nil
    }

    private static func json(_ entry: AppState.CallTimelineEntry) -> JSONValue {
        let (type, own, reason, seconds): (String, JSONValue, JSONValue, JSONValue) =
            switch entry.event {
            case .invited(let byUs): ("invited", .bool(byUs), .null, .null)
            case .connected: ("connected", .null, .null, .null)
            case .ended(let reason, let seconds):
                ("ended", .null, .string(reason), seconds.map { .integer($0) } ?? .null)
            }
        return [
            "call": .string(entry.callID), "chat": .string(entry.chatID.rawValue), "peer": .string(entry.peer.hex),
            "at": .integer(entry.at.seconds), "type": .string(type), "own": own, "reason": reason, "seconds": seconds,
        ]
    }

    private static func entry(_ json: JSONValue) -> AppState.CallTimelineEntry? {
        guard let callID = json["call"]?.string, let chat = json["chat"]?.string,
            let peer = json["peer"]?.string.flatMap({ try? PublicKey(hex: $0) }), let at = json["at"]?.integer
        else { return nil }
        let event: AppState.CallTimelineEntry.Event
        switch json["type"]?.string {
        case "invited":
            guard let own = json["own"]?.bool else { return nil }
            event = .invited(byUs: own)
        case "connected": event = .connected
        case "ended":
            guard let reason = json["reason"]?.string else { return nil }
            event = .ended(reason: reason, seconds: json["seconds"]?.integer)
        default: return nil
        }
        return AppState.CallTimelineEntry(
            callID: callID, chatID: ChatID(rawValue: chat), peer: peer, at: UnixTime(at), event: event)
    }
}
