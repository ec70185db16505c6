import Nostr

/// The stored form of an event in the inbox: JSON, version 1.
extension CoreEvent {
    var payload: [UInt8] {
        let content: (String, JSONValue) =
            switch self.content {
            case .message(let message): ("message", message.json)
            case .commit(let commit): ("commit", commit.json)
            case .proposal(let proposal): ("proposal", proposal.json)
            case .call(let call):
                (
                    "call",
                    [
                        "id": .string(call.id.hex), "sender": .string(call.sender.hex),
                        "signal": .string(call.signal.content), "epoch": .string(String(call.epoch)),
                        "role": JSONValue(call.role), "wrapper": JSONValue(call.wrapper),
                    ]
                )
            case .joined(let join):
                (
                    "joined",
                    [
                        "inviter": .string(join.inviter.hex), "name": .string(join.name),
                        "epoch": .string(String(join.epoch)), "members": .integer(Int64(join.memberCount)),
                    ]
                )
            case .withdrawn(let message): ("withdrawn", message.json)
            case .outcome(let outcome): ("outcome", outcome.json)
            case .feed(let item): ("feed", item.json)
            }
        let json: JSONValue = [
            "v": 1, "chat": .string(self.chatID.rawValue), "at": .integer(self.receivedAt.seconds),
            "type": .string(content.0), "content": content.1,
        ]
        return json.json()
    }

    /// Parses a payload; nil if it is malformed.
    init?(inboxID: Int64, payload: [UInt8]) {
        guard let json = try? JSONValue(json: payload), json["v"]?.integer == 1, let chat = json["chat"]?.string,
            let receivedAt = json["at"]?.integer, let type = json["type"]?.string, let body = json["content"]
        else { return nil }
        let content: Content
        switch type {
        case "message":
            guard let message = MessageEvent(body) else { return nil }
            content = .message(message)
        case "commit":
            guard let commit = CommitEvent(body) else { return nil }
            content = .commit(commit)
        case "proposal":
            guard let proposal = ProposalEvent(body) else { return nil }
            content = .proposal(proposal)
        case "call":
            guard let id = body.eventID("id"), let sender = body.publicKey("sender"),
                let epoch = body.unsigned("epoch"),
                let signal = body["signal"]?.string.flatMap({ CallSignal(content: $0) })
            else { return nil }
            content = .call(
                CallEvent(
                    id: id, sender: sender, signal: signal, epoch: epoch, role: body.role,
                    wrapper: body.eventID("wrapper")))
        case "joined":
            guard let inviter = body.publicKey("inviter"), let name = body["name"]?.string,
                let epoch = body.unsigned("epoch"), let members = body["members"]?.integer
            else { return nil }
            content = .joined(JoinEvent(inviter: inviter, name: name, epoch: epoch, memberCount: Int(members)))
        case "withdrawn":
            guard let message = WithdrawnEvent(body) else { return nil }
            content = .withdrawn(message)
        case "outcome":
            guard let outcome = OutcomeEvent(stored: body) else { return nil }
            content = .outcome(outcome)
        case "feed":
            guard let item = FeedItem(body) else { return nil }
            content = .feed(item)
        default: return nil
        }
        self.init(inboxID: inboxID, chatID: ChatID(rawValue: chat), receivedAt: UnixTime(receivedAt), content: content)
    }
}

extension MessageEvent {
    fileprivate var json: JSONValue {
        [
            "id": .string(self.id.hex), "sender": .string(self.sender.hex), "kind": .integer(Int64(self.kind.rawValue)),
            "content": .string(self.content), "created_at": .integer(self.createdAt.seconds),
            "epoch": .string(String(self.epoch)), "role": JSONValue(self.role), "wrapper": JSONValue(self.wrapper),
            "tags": .array(self.tags.map { .array($0.values.map { .string($0) }) }),
        ]
    }

    fileprivate init?(_ json: JSONValue) {
        guard let id = json.eventID("id"), let sender = json.publicKey("sender"),
            let kind = json["kind"]?.integer.flatMap({ UInt16(exactly: $0) }), let content = json["content"]?.string,
            let createdAt = json["created_at"]?.integer, let epoch = json.unsigned("epoch"),
            let tags = json["tags"]?.array
        else { return nil }
        self.init(
            id: id, sender: sender, kind: Kind(rawValue: kind), content: content,
            tags: tags.map { Tag(values: ($0.array ?? []).compactMap(\.string)) }, createdAt: UnixTime(createdAt),
            epoch: epoch,
            role: json.role, wrapper: json.eventID("wrapper"))
    }
}

extension FeedItem {
    fileprivate var json: JSONValue {
        [
            "feed": .string(self.feed), "id": .string(self.id), "payload": .string(Base64.encode(self.payload)),
            "name": self.name.map { .string($0) } ?? .null,
            "content_type": self.contentType.map { .string($0) } ?? .null,
        ]
    }

    fileprivate init?(_ json: JSONValue) {
        guard let feed = json["feed"]?.string, let id = json["id"]?.string,
            let payload = json["payload"]?.string.flatMap({ Base64.decode($0) })
        else { return nil }
        self.init(
            feed: feed, id: id, payload: payload, name: json["name"]?.string, contentType: json["content_type"]?.string)
    }
}

extension ProposalEvent {
    fileprivate var json: JSONValue {
        [
            "id": .string(self.id.hex), "sender": .string(self.sender.hex), "change": .string(self.change.name),
            "account": self.change.account.map { .string($0.hex) } ?? .null, "epoch": .string(String(self.epoch)),
            "role": JSONValue(self.role),
        ]
    }

    fileprivate init?(_ json: JSONValue) {
        guard let id = json.eventID("id"), let sender = json.publicKey("sender"), let epoch = json.unsigned("epoch"),
            let change = Self.change(json)
        else { return nil }
        self.init(id: id, sender: sender, change: change, epoch: epoch, role: json.role)
    }

    private static func change(_ json: JSONValue) -> Change? {
        guard let name = json["change"]?.string else {
            // The form of older versions.
            return json["departure"]?.bool.map { $0 ? .departure : .other }
        }
        let account = json.publicKey("account")
        // A damaged key is not the same as an unknown one.
        if account == nil, json["account"]?.string != nil { return nil }
        return Change(name: name, account: account)
    }
}

extension WithdrawnEvent {
    fileprivate var json: JSONValue {
        [
            "id": .string(self.id.hex), "sender": .string(self.sender.hex), "kind": .integer(Int64(self.kind.rawValue)),
            "epoch": .string(String(self.epoch)), "wrapper": JSONValue(self.wrapper),
            "restored": .bool(self.isRestored),
        ]
    }

    fileprivate init?(_ json: JSONValue) {
        guard let id = json.eventID("id"), let sender = json.publicKey("sender"),
            let kind = json["kind"]?.integer.flatMap({ UInt16(exactly: $0) }), let epoch = json.unsigned("epoch"),
            let isRestored = json["restored"]?.bool
        else { return nil }
        self.init(
            id: id, sender: sender, kind: Kind(rawValue: kind), epoch: epoch, wrapper: json.eventID("wrapper"),
            isRestored: isRestored)
    }
}

extension CommitEvent {
    fileprivate var json: JSONValue {
        func keys(_ keys: [PublicKey]) -> JSONValue { .array(keys.map { .string($0.hex) }) }
        return [
            "id": .string(self.id.hex), "committer": .string(self.committer.hex), "own": .bool(self.isOwn),
            "before": .string(String(self.epochBefore)), "after": .string(String(self.epochAfter)),
            "added": keys(self.added), "removed": keys(self.removed), "left": keys(self.left),
            "old_name": .string(self.oldName), "new_name": .string(self.newName),
            "new_description": .string(self.newDescription), "description": .bool(self.descriptionChanged),
            "new_relays": .array(self.newRelays.map { .string($0.string) }),
            "timer": self.disappearingSeconds.map { .string(String($0)) } ?? .null,
            "timer_changed": .bool(self.disappearingChanged),
            "admins_added": keys(self.adminsAdded), "admins_removed": keys(self.adminsRemoved),
            "relays": .bool(self.relaysChanged), "rolled_back": .bool(self.rolledBack),
            "removed_self": .bool(self.removedSelf), "role": JSONValue(self.role),
        ]
    }

    fileprivate init?(_ json: JSONValue) {
        guard let id = json.eventID("id"), let committer = json.publicKey("committer"), let own = json["own"]?.bool,
            let before = json.unsigned("before"), let after = json.unsigned("after"),
            let added = json.publicKeys("added"), let removed = json.publicKeys("removed"),
            let oldName = json["old_name"]?.string, let newName = json["new_name"]?.string,
            let description = json["description"]?.bool, let adminsAdded = json.publicKeys("admins_added"),
            let adminsRemoved = json.publicKeys("admins_removed"), let relays = json["relays"]?.bool,
            let left = json.publicKeys("left"), let newDescription = json["new_description"]?.string,
            let newRelays = json["new_relays"]?.array?.compactMap({ $0.string.flatMap { try? RelayURL($0) } }),
            let timerChanged = json["timer_changed"]?.bool, let rolledBack = json["rolled_back"]?.bool,
            let removedSelf = json["removed_self"]?.bool
        else { return nil }
        self.init(
            id: id, committer: committer, isOwn: own, epochBefore: before, epochAfter: after, added: added,
            removed: removed, left: left, oldName: oldName, newName: newName, newDescription: newDescription,
            descriptionChanged: description, adminsAdded: adminsAdded, adminsRemoved: adminsRemoved,
            newRelays: newRelays, relaysChanged: relays, disappearingSeconds: json.unsigned("timer"),
            disappearingChanged: timerChanged, rolledBack: rolledBack, removedSelf: removedSelf,
            role: json.role)
    }
}

extension JSONValue {
    fileprivate init(_ role: MemberRole?) { self = role.map { .string($0.rawValue) } ?? .null }
    fileprivate init(_ id: EventID?) { self = id.map { .string($0.hex) } ?? .null }

    /// The member's role; nil (unknown) in payloads of older versions.
    fileprivate var role: MemberRole? { self["role"]?.string.flatMap(MemberRole.init) }
    fileprivate func eventID(_ name: String) -> EventID? { self[name]?.string.flatMap { try? EventID(hex: $0) } }
    fileprivate func publicKey(_ name: String) -> PublicKey? { self[name]?.string.flatMap { try? PublicKey(hex: $0) } }
    /// Parses a 64-bit number, which is stored as a string because JSON integers are smaller.
    fileprivate func unsigned(_ name: String) -> UInt64? { self[name]?.string.flatMap { UInt64($0) } }

    fileprivate func publicKeys(_ name: String) -> [PublicKey]? {
        guard let list = self[name]?.array else { return nil }
        let keys = list.compactMap { $0.string.flatMap { try? PublicKey(hex: $0) } }
        return keys.count == list.count ? keys : nil
    }
}
