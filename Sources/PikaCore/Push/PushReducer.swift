import MLS
import Marmot
import Nostr

/// Push tokens and notifications (MIP-05, docs/protocol/marmot.md §7).
extension CoreModel {
    /// The maximum number of groups in which this account's token is shared within one turn.
    private static let sharesPerTurn = 16
    /// Milliseconds before the token is shared in further groups.
    private static let sharingPause: Int64 = 100
    /// The maximum size of a token list in bytes: the event that carries it must fit into what relays accept.
    private static let maximumListBytes = 32_768

    // MARK: Actions

    mutating func actOnPush(_ action: AppAction, _ step: inout CoreStep) throws -> ActionOutcome {
        switch action {
        case .registerPushToken(let registration):
            if try self.register(registration, &step) { self.markUnshared() }
        case .removePushToken: if self.notifications.tokens.unregister(&step) { self.markUnshared() }
        case .setPushNotifications(let isOn): self.notifications.tokens.setNotifies(isOn, &step)
        default: preconditionFailure("\(action) is not an action about push notifications")
        }
        return .done(chatID: nil)
    }

    private mutating func register(
        _ registration: PushRegistration, _ step: inout CoreStep
    ) throws(AppCoreError) -> Bool {
        guard registration.server.isOnCurve else {
            throw AppCoreError(.notAllowed, "the push server's public key must be a point on secp256k1")
        }
        let platform: DeviceToken.Platform =
            switch registration.platform {
            case .apns: .apns
            case .fcm: .fcm
            }
        let device: DeviceToken
        do { device = try DeviceToken(platform, Secret(registration.token)) } catch {
            throw AppCoreError(.notAllowed, error.message)
        }
        return self.notifications.tokens.register(device, server: registration.server, relay: registration.relay, &step)
    }

    // MARK: Groups

    /// Resumes after a restart: drops the tokens of former members, and shares this account's token where that was
    /// interrupted.
    mutating func startPush(_ step: inout CoreStep) {
        for group in self.groups.values { self.followPushTokens(of: group, &step) }
    }

    /// Follows a change of a group's leaves.
    mutating func followPushTokens(of group: AccountGroup, _ step: inout CoreStep) {
        let groupID = group.groupID
        guard self.notifications.tokens.concerns(groupID) else { return }
        self.notifications.tokens.keep(group.isActive ? group.identities : [:], in: groupID, &step)
        self.markUnshared(group)
    }

    /// Forgets that this account's token was shared in a group, because the members of another state may not know it.
    mutating func forgetPushSharing(in groupID: GroupID, _ step: inout CoreStep) {
        self.notifications.tokens.forgetSharing(in: groupID, &step)
    }

    private mutating func markUnshared() {
        for group in self.groups.values { self.markUnshared(group) }
    }

    private mutating func markUnshared(_ group: AccountGroup) {
        // Tokens of the second generation have another form, which this client does not use.
        guard group.isActive, group.generation == .v1,
            !self.notifications.tokens.isShared(in: group.groupID, own: group.ownLeaf)
        else { return }
        self.notifications.tokens.markUnshared(group.groupID)
    }

    /// Drops outdated tokens, and shares this account's own where it is outdated or where sharing failed.
    mutating func maintainPush(_ step: inout CoreStep) {
        self.notifications.tokens.expire(&step)
        self.markUnshared()
    }

    // MARK: Sharing this account's token

    /// Shares or withdraws this account's token where that is due, at the end of an input: not while older events are
    /// being read, and in a few groups at a time.
    mutating func sharePushToken(_ step: inout CoreStep) {
        guard !self.notifications.tokens.unshared.isEmpty else { return }
        let due = self.notifications.tokens.unshared.filter { !self.isReading($0) }.sorted()
        for groupID in due.prefix(Self.sharesPerTurn) {
            self.notifications.tokens.endSharing(in: groupID)
            do { try self.sharePushToken(in: groupID, &step) } catch {
                step.effects.append(.note(.sendFailed(reason: "push token: \(error)")))
            }
        }
        if due.count > Self.sharesPerTurn {
            step.effects.append(.wake(.push, atMilliseconds: step.nowMilliseconds + Self.sharingPause))
        }
    }

    private mutating func sharePushToken(in groupID: GroupID, _ step: inout CoreStep) throws {
        guard let group = self.groups[groupID], group.isActive, !self.hasLeft(groupID),
            !self.notifications.tokens.isShared(in: groupID, own: group.ownLeaf)
        else { return }
        var route: PushRoute?
        if let own = self.notifications.tokens.registration {
            // Encrypted for each group anew, so that the groups of a device cannot be linked.
            let token = try PushToken(own.device, for: own.server, using: &step.random)
            route = PushRoute(token, server: own.server, relay: own.relay)
        }
        try self.sendPush(route.map { PushRumor.request([$0]) } ?? .removal, to: groupID, &step)
        self.notifications.tokens.noteShared(route, of: group.ownLeaf, by: self.account.publicKey, in: groupID, &step)
    }

    private mutating func sendPush(_ rumor: PushRumor, to groupID: GroupID, _ step: inout CoreStep) throws {
        let draft = try rumor.rumor(by: self.account.publicKey, now: step.now)
        _ = try self.send(
            OutgoingMessage(kind: draft.kind, content: draft.content, tags: draft.tags), toChat: ChatID(groupID), &step)
    }

    // MARK: Tokens of others

    /// Applies a token event of another device.
    mutating func receivePushRumor(_ message: StoredMessage, from leaf: LeafIndex, _ step: inout CoreStep) {
        let groupID = message.groupID
        let sender = message.rumor.pubkey
        guard let group = self.groups[groupID], leaf != group.ownLeaf else { return }
        // In a later epoch the leaf may be empty or belong to another member.
        let identities = group.identities
        guard identities[leaf] == sender else {
            return self.refusePush("the sender has left its leaf", message, &step)
        }
        let rumor: PushRumor
        do { rumor = try PushRumor(message.rumor) } catch {
            return self.refusePush(error.message, message, &step)
        }
        switch rumor {
        case .request(let routes):
            guard routes.count <= PushTokens.routesPerLeaf else {
                return self.refusePush(
                    "expected at most \(PushTokens.routesPerLeaf) tokens of one leaf, found \(routes.count)", message,
                    &step)
            }
            guard self.notifications.tokens.apply(routes, of: leaf, by: sender, at: message.time, in: groupID, &step)
            else {
                return self.refusePush(Self.noRoom, message, &step)
            }
            // Requests of the past have been answered by others.
            guard message.time > step.now - PushAnswers.maximumAge, !self.isReading(groupID) else {
                return
            }
            // Without a token of its own, this account cannot know how many of the members answer requests.
            let answerers = self.notifications.tokens.holders(in: groupID, with: group.ownLeaf) ?? identities.count
            self.notifications.answers.schedule(message.id, of: leaf, in: groupID, among: answerers, &step)
        case .list(let routes, let request):
            // Members send lists only in answer to a request.
            guard self.inbound.seen.contains(self.messageKey(request, in: groupID)) else {
                return self.refusePush("the list answers no known request", message, &step)
            }
            self.notifications.answers.cancel(request, in: groupID)
            self.apply(routes, relayedIn: message, group, &step)
        case .removal:
            _ = self.notifications.tokens.apply([], of: leaf, by: sender, at: message.time, in: groupID, &step)
        }
    }

    private mutating func apply(
        _ routes: [LeafIndex: PushRoute], relayedIn message: StoredMessage, _ group: AccountGroup,
        _ step: inout CoreStep
    ) {
        let identities = group.identities
        var isComplete = true
        for (leaf, route) in routes.sorted(by: { $0.key < $1.key }) where leaf != group.ownLeaf {
            // A list of another epoch may name leaves that are empty now.
            guard let member = identities[leaf] else { continue }
            // Without room for one leaf, as after wrong routes by another member, there may be some for the others.
            let isAdded = self.notifications.tokens.add(
                route, relayedFor: leaf, of: member, at: message.time, in: group.groupID, &step)
            isComplete = isComplete && isAdded
        }
        if !isComplete { self.refusePush(Self.noRoom, message, &step) }
    }

    private static let noRoom = "the push tokens of the leaf, group or account, or a relay's URL, exceed their limit"

    private func refusePush(_ detail: String, _ message: StoredMessage, _ step: inout CoreStep) {
        step.refuse(
            .badPushToken, detail, message.wrapper, inner: message.id, chatID: self.chatID(of: message.groupID))
    }

    /// Sends the answers and notifications that are due.
    mutating func continuePush(_ step: inout CoreStep) {
        let answers = self.notifications.answers.removeDue(step.nowMilliseconds)
        let groups = self.notifications.requests.removeDue(step.nowMilliseconds)
        self.send(answers, &step)
        for groupID in groups { self.notifyMembers(of: groupID, &step) }
        self.notifications.setFurtherTimer(&step)
    }

    /// Sends answers: the routes that members have stated themselves, and this account's own.
    private mutating func send(_ answers: [PushAnswers.Answer], _ step: inout CoreStep) {
        for answer in answers {
            guard let group = self.groups[answer.groupID], group.isActive, !self.hasLeft(answer.groupID) else {
                continue
            }
            do {
                for list in self.pushLists(of: answer.groupID, for: answer.leaf) {
                    try self.sendPush(.list(list, answering: answer.request), to: answer.groupID, &step)
                }
            } catch { step.effects.append(.note(.sendFailed(reason: "push token list: \(error)"))) }
        }
    }

    /// Returns the lists for one answer: a list has at most one route of each leaf, and a limited size.
    private func pushLists(of groupID: GroupID, for requester: LeafIndex) -> [[LeafIndex: PushRoute]] {
        let entries = self.notifications.tokens[groupID].filter { $0.key != requester && $0.value.isDirect }
        var lists: [[LeafIndex: PushRoute]] = []
        for position in 0..<PushTokens.routesPerLeaf {
            var list: [LeafIndex: PushRoute] = [:]
            var bytes = 0
            for (leaf, entry) in entries.sorted(by: { $0.key < $1.key }) where position < entry.routes.count {
                let route = entry.routes[position]
                // Punctuation of the tag, the server's key and the leaf take less than 128 bytes.
                let size = route.token.base64.utf8.count + route.relay.string.utf8.count + 128
                if bytes + size > Self.maximumListBytes, !list.isEmpty {
                    lists.append(list)
                    (list, bytes) = ([:], 0)
                }
                list[leaf] = route
                bytes += size
            }
            if !list.isEmpty { lists.append(list) }
        }
        return lists
    }

    // MARK: Notifying members

    /// Records that members are to be notified of a message of this account once a relay has it, if they see messages
    /// of its kind.
    mutating func expectNotification(of message: StoredMessage) {
        guard self.notifications.tokens.notifies, Self.isShown(message.rumor.kind) else { return }
        self.notifications.requests.expect(self.messageKey(message.id, in: message.groupID), in: message.groupID)
    }

    /// Schedules the notification of a group's members, since a relay has a message for them.
    mutating func scheduleNotification(of row: OutboxRow, _ step: inout CoreStep) {
        guard let groupID = row.groupID, let id = row.messageID else { return }
        self.notifications.requests.schedule(self.messageKey(id, in: groupID), &step)
    }

    /// Asks the push servers of a group's members to wake their devices.
    private mutating func notifyMembers(of groupID: GroupID, _ step: inout CoreStep) {
        guard self.groups[groupID]?.isActive == true, !self.hasLeft(groupID) else { return }
        let own = self.account.publicKey
        let entries = self.notifications.tokens[groupID].sorted { $0.key < $1.key }.map(\.value)
            .filter { $0.member != own }
        // The members' own statements come first, because anyone can relay wrong routes for silent members.
        let stated = entries.filter(\.isDirect)
        let routes = (stated + entries.filter { !$0.isDirect }).flatMap(\.routes)
        var members: [PublicKey: Int] = [:]
        for entry in stated {
            for server in Set(entry.routes.map(\.server)) { members[server, default: 0] += 1 }
        }
        let batches = PushNotifications.batches(routes).sorted { one, other in
            let (first, second) = (members[one.server] ?? 0, members[other.server] ?? 0)
            if first != second { return first > second }
            return (-one.tokens.count, one.server) < (-other.tokens.count, other.server)
        }
        for batch in batches.prefix(PushRequests.maximumServers) {
            let ofServer = routes.filter { $0.server == batch.server }
            guard
                let relays = self.notifications.requests.relays(
                    of: batch.server, for: ofServer, in: groupID, self.configuration, &step)
            else { continue }
            self.request(batch, from: relays, &step)
        }
        if batches.count > PushRequests.maximumServers { step.effects.append(.note(.limited(scope: "push"))) }
    }

    /// Continues the requests that waited for the relays of a server.
    mutating func receivePushServer(
        _ server: PublicKey, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        guard
            let (relays, groups) = self.notifications.requests.endSearch(
                of: server, outcomes, self.configuration, now: step.now)
        else { return }
        // One request for two groups would tell the server that they share a member.
        for routes in groups {
            for batch in PushNotifications.batches(routes) { self.request(batch, from: relays, &step) }
        }
    }

    private mutating func request(
        _ batch: PushNotifications.Batch, from relays: [RelayURL], _ step: inout CoreStep
    ) {
        guard !relays.isEmpty else {
            return step.effects.append(.note(.sendFailed(reason: "notification: the push server lists no relays")))
        }
        let events: [Event]
        do { events = try PushNotifications.events(batch, now: step.now, using: &step.random) } catch {
            return step.effects.append(.note(.sendFailed(reason: "notification: \(error.message)")))
        }
        let queued = self.delivery.queue.rows { $0.purpose == .notification }
        let ofServer = queued.filter { $0.event.tags.contains(.user(batch.server)) }.count
        var room = PushRequests.maximumQueued - queued.count
        // Servers whose relays never answer must leave room for others.
        if queued.count >= PushRequests.maximumQueued / 2, ofServer >= PushRequests.maximumQueuedOfServer { room = 0 }
        for event in events {
            guard room > 0 else { return step.effects.append(.note(.limited(scope: "push"))) }
            room -= 1
            self.enqueue(id: "notification/\(event.id.hex)", event, to: relays, .notification, &step)
        }
    }
}
