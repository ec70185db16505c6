import MLS
import Nostr

/// A key package of this account: its announcement, use and retirement.
struct KeyPackageRecord: Sendable, Hashable {
    /// The events that announce it, kind 443 or 30443; earlier versions used both for one package. Republished unchanged,
    /// so that relays keep one of each.
    var events: [Event] = []
    /// Events of the first generation that were replaced: deleted from relays once one relay has stored the successor.
    var superseded: [Event] = []
    /// The time of the first join with it.
    var usedAt: UnixTime?
    /// The time when another package replaced it.
    var retiredAt: UnixTime?
    /// Whether a relay has an event of the second generation that announces it.
    var isStored = false
}

/// A relay list of this account.
struct RelayListRecord: Sendable, Hashable {
    var event: Event
    /// Whether a relay has it.
    var isConfirmed = false
    /// The tags of relays that another program wrote into it.
    var others: [Tag] = []
}

/// The relays on which an invited peer expects its Welcome.
struct PeerRelays: Sendable, Hashable {
    var relays: [RelayURL]
    /// The time of the search.
    var foundAt: UnixTime
}

// MARK: - Stored forms: JSON, version 1

extension KeyPackageRecord {
    var memo: Secret {
        var json: JSONObject = ["v": 1, "events": .array(self.events.map(\.jsonValue))]
        if !self.superseded.isEmpty { json["superseded"] = .array(self.superseded.map(\.jsonValue)) }
        if let usedAt { json["used"] = .integer(usedAt.seconds) }
        if let retiredAt { json["retired"] = .integer(retiredAt.seconds) }
        if self.isStored { json["stored"] = .bool(true) }
        return Secret(JSONValue.object(json).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo), let list = json["events"]?.array else { return nil }
        self.events = list.compactMap { Event($0) }
        guard self.events.count == list.count else { return nil }
        let superseded = json["superseded"]?.array ?? []
        self.superseded = superseded.compactMap { Event($0) }
        guard self.superseded.count == superseded.count else { return nil }
        self.usedAt = json["used"]?.integer.map(UnixTime.init(_:))
        self.retiredAt = json["retired"]?.integer.map(UnixTime.init(_:))
        self.isStored = json["stored"]?.bool ?? false
    }
}

extension RelayListRecord {
    var memo: Secret {
        var json: JSONObject = ["v": 1, "event": self.event.jsonValue, "confirmed": .bool(self.isConfirmed)]
        if !self.others.isEmpty {
            json["others"] = .array(self.others.map { .array($0.values.map { .string($0) }) })
        }
        return Secret(JSONValue.object(json).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo), let event = json["event"].flatMap({ Event($0) }),
            let isConfirmed = json["confirmed"]?.bool
        else { return nil }
        let others = (json["others"]?.array ?? []).map { Tag(values: ($0.array ?? []).compactMap { $0.string }) }
        self.init(event: event, isConfirmed: isConfirmed, others: others)
    }
}

extension PeerRelays {
    var memo: Secret {
        let relays = JSONValue.array(self.relays.map { .string($0.string) })
        return Secret((["v": 1, "relays": relays, "at": .integer(self.foundAt.seconds)] as JSONValue).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo), let list = json["relays"]?.array, let foundAt = json["at"]?.integer
        else { return nil }
        let relays = list.compactMap { $0.string.flatMap { try? RelayURL($0) } }
        guard relays.count == list.count else { return nil }
        self.init(relays: relays, foundAt: UnixTime(foundAt))
    }
}

extension AppState.InviteSummary {
    init(_ invite: StoredInvite, group: AppState.InvitedGroup?) {
        self.init(
            wrapper: invite.wrapper, welcome: invite.rumor.id, inviter: group?.inviter ?? invite.rumor.pubkey,
            group: group)
    }
}

extension AppState.InvitedGroup {
    var memo: Secret {
        var json: JSONObject = [
            "v": 1, "name": .string(self.name), "description": .string(self.description),
            "members": .integer(Int64(self.memberCount)),
        ]
        if let chatID = self.chatID { json["group"] = .string(chatID.rawValue) }
        if let nostrGroupID = self.nostrGroupID { json["chat"] = .string(nostrGroupID) }
        if let inviter = self.inviter { json["inviter"] = .string(inviter.hex) }
        return Secret(JSONValue.object(json).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo), let name = json["name"]?.string,
            let description = json["description"]?.string, let count = json["members"]?.integer.flatMap(Int.init)
        else { return nil }
        // The JSON key `chat` has held the nostrGroupID since version 1.
        self.init(
            name: name, description: description, memberCount: count,
            chatID: json["group"]?.string.map(ChatID.init(rawValue:)), nostrGroupID: json["chat"]?.string,
            inviter: json["inviter"]?.string.flatMap { try? PublicKey(hex: $0) })
    }
}

extension JSONValue {
    /// Parses a memo of version 1; nil for any other content.
    init?(memo: Secret) {
        guard let json = try? JSONValue(json: memo.copyBytes()), json["v"]?.integer == 1 else { return nil }
        self = json
    }
}

extension Event {
    var jsonValue: JSONValue { .string(String(decoding: self.json(), as: UTF8.self)) }

    init?(_ json: JSONValue) {
        guard let text = json.string, let event = try? Event(json: Array(text.utf8)) else { return nil }
        self = event
    }
}
