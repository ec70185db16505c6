import MLS
import Marmot
import Nostr

/// The stored form of an intent: JSON, version 1. A search starts over after a restart.
extension GroupIntent {
    var stored: Secret {
        var fields: JSONObject = [
            "v": 1, "group": .string(self.groupID.hex), "goal": self.goal.json,
        ]
        if self.missing == .proceedWithout { fields["go_on_without"] = .bool(true) }
        if let successor { fields["successor"] = .string(successor.hex) }
        if let request = self.request?.stored { fields[request.name] = request.value }
        if self.losses > 0 { fields["losses"] = .integer(Int64(self.losses)) }
        if let formerCommit { fields["former"] = .string(formerCommit.hex) }
        switch self.phase {
        case .queued, .searching: break
        case .committing(let event): fields["committing"] = .string(event.hex)
        case .lost(let event): fields["lost"] = .string(event.hex)
        case .settled(let event, let epoch):
            fields["settled"] = .string(event.hex)
            fields["epoch"] = .string(String(epoch))
        case .proposed(let event, let epoch):
            fields["proposed"] = .string(event.hex)
            fields["epoch"] = .string(String(epoch))
        }
        return Secret(JSONValue.object(fields).json())
    }

    /// Reads a memo; nil if it is not an intent.
    init?(_ name: MemoName, _ content: Secret) {
        guard name.kind == .groupIntent, name.key.count == 8, let json = JSONValue(memo: content),
            let groupID = json["group"]?.string.flatMap({ GroupID(hex: $0) }),
            let goal = json["goal"].flatMap({ Goal($0) })
        else { return nil }
        self.init(
            number: name.key.reduce(0) { $0 << 8 | Int($1) }, groupID: groupID, goal: goal,
            missing: json["go_on_without"]?.bool == true ? .proceedWithout : .fail)
        if let successor = json["successor"]?.string {
            guard let key = try? PublicKey(hex: successor) else { return nil }
            self.successor = key
        }
        self.request = RequestID(stored: json)
        if let losses = json["losses"]?.integer {
            guard let losses = Int(exactly: losses), (0...Intents.maximumLosses).contains(losses) else { return nil }
            self.losses = losses
        }
        func event(_ field: String) -> EventID? { json[field]?.string.flatMap { try? EventID(hex: $0) } }
        self.formerCommit = event("former")
        if let event = event("committing") {
            self.phase = .committing(event)
        } else if let event = event("lost") {
            self.phase = .lost(event)
        } else if let event = event("settled"), let epoch = json["epoch"]?.string.flatMap({ Epoch($0) }) {
            self.phase = .settled(event, epoch: epoch)
        } else if let event = event("proposed"), let epoch = json["epoch"]?.string.flatMap({ Epoch($0) }) {
            self.phase = .proposed(event, epoch: epoch)
        }
    }
}

extension GroupIntent.Goal {
    fileprivate var json: JSONValue {
        func keys(_ keys: [PublicKey]) -> JSONValue { .array(keys.map { .string($0.hex) }) }
        return switch self {
        case .found(let name, let peers, let isDirect, let groupProtocol):
            [
                "type": "found", "name": .string(name), "peers": keys(peers), "direct": .bool(isDirect),
                "protocol": .string(groupProtocol.rawValue),
            ]
        case .add(let peers): ["type": "add", "peers": keys(peers)]
        case .remove(let peers): ["type": "remove", "peers": keys(peers)]
        case .set(let field): ["type": "set", "field": field.json]
        case .selfDemote: ["type": "self_demote"]
        case .upgrade: ["type": "upgrade"]
        case .selfUpdate(let isAutomatic): ["type": "self_update", "automatic": .bool(isAutomatic)]
        case .commitDepartures: ["type": "commit_departures"]
        case .leave: ["type": "leave"]
        case .disband: ["type": "disband"]
        case .enableDisbanding: ["type": "enable_disbanding"]
        }
    }

    fileprivate init?(_ json: JSONValue) {
        let peers = json["peers"]?.array?.compactMap { $0.string.flatMap { try? PublicKey(hex: $0) } }
        switch json["type"]?.string {
        case "found":
            guard let name = json["name"]?.string, let peers, let isDirect = json["direct"]?.bool else { return nil }
            // Versions that knew only the first generation stored none.
            let stored = json["protocol"]?.string ?? GroupProtocol.v1.rawValue
            guard let groupProtocol = GroupProtocol(rawValue: stored) else { return nil }
            self = .found(name: name, peers: peers, isDirect: isDirect, groupProtocol: groupProtocol)
        case "add":
            guard let peers else { return nil }
            self = .add(peers)
        case "remove":
            guard let peers else { return nil }
            self = .remove(peers)
        case "set":
            guard let field = json["field"].flatMap({ GroupField($0) }) else { return nil }
            self = .set(field)
        case "self_demote": self = .selfDemote
        case "upgrade": self = .upgrade
        case "self_update":
            guard let isAutomatic = json["automatic"]?.bool else { return nil }
            self = .selfUpdate(isAutomatic: isAutomatic)
        case "commit_departures": self = .commitDepartures
        case "leave": self = .leave
        case "disband": self = .disband
        case "enable_disbanding": self = .enableDisbanding
        default: return nil
        }
    }
}
