import MLS
import Marmot
import Nostr

/// Founding and changing groups.
extension CoreModel {
    mutating func createGroup(
        name: String, peers: [PublicKey], isDirect: Bool, _ request: RequestID?, _ step: inout CoreStep
    ) {
        let operation = self.begin(.createGroup(name: name, peers: peers, isDirect: isDirect), request)
        guard !peers.isEmpty else {
            self.continueOperation(operation, [], relayAnswered: true, &step)
            return
        }
        self.fetchKeyPackages(of: peers, operation, &step)
    }

    mutating func addMembers(
        _ peers: [PublicKey], toChat chatID: String, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireIdle(groupID)
        let operation = self.begin(.addMembers(groupID: groupID, peers: peers), request)
        self.fetchKeyPackages(of: peers, operation, &step)
    }

    mutating func rename(
        _ chatID: String, to name: String, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        guard var data = self.groups[try self.groupID(ofChat: chatID)]?.data else {
            throw AppCoreError(.unknownChat, "no chat has the id \(chatID)")
        }
        data.name = name
        try self.commit(.update(data), inChat: chatID, request, &step)
    }

    private func requireIdle(_ groupID: [UInt8]) throws(AppCoreError) {
        guard self.groups[groupID]?.pending == nil else {
            throw AppCoreError(.busy, "another change to this group waits for a relay; try again when it is done")
        }
    }

    private func fetchKeyPackages(of peers: [PublicKey], _ operation: Int, _ step: inout CoreStep) {
        step.effects.append(
            .fetch(
                .keyPackages(operation: operation),
                [Filter(authors: peers, kinds: [.addressableKeyPackage, .keyPackage])], from: self.configuration.relays
            ))
    }

    /// Goes on with an operation whose peers' key packages were looked for.
    mutating func continueOperation(
        _ number: Int, _ events: [Event], relayAnswered: Bool, _ step: inout CoreStep
    ) {
        guard let operation = self.end(number) else { return }
        do {
            switch operation.goal {
            case .createGroup(let name, let peers, let isDirect):
                let invitees = try self.invitees(peers, events, relayAnswered, step.now)
                let chatID = try self.found(name, invitees, isDirect: isDirect, &step)
                self.finish(operation.request, .done(chatID: chatID), &step)
            case .addMembers(let groupID, let peers):
                guard let chatID = self.groups[groupID]?.data.nostrGroupIDHex else { return }
                let invitees = try self.invitees(peers, events, relayAnswered, step.now)
                try self.commit(.add(invitees), inChat: chatID, operation.request, &step)
            case .commit: break
            }
        } catch { self.fail(operation.request, error, &step) }
    }

    /// The best key package of each peer: the newest usable, kind 30443 before 443 (MIP-00).
    private func invitees(
        _ peers: [PublicKey], _ events: [Event], _ relayAnswered: Bool, _ now: Int64
    ) throws(AppCoreError) -> [Invitee] {
        guard relayAnswered else { throw AppCoreError(.noRelay, "no relay answered the search for key packages") }
        var invitees: [Invitee] = []
        for peer in peers {
            let own = events.filter { $0.pubkey == peer }.sorted {
                ($0.kind == .addressableKeyPackage ? 1 : 0, $0.createdAt) > (
                    $1.kind == .addressableKeyPackage ? 1 : 0, $1.createdAt
                )
            }
            var reason = "none was found on the relays"
            var found: Invitee?
            for event in own where found == nil {
                do { found = try Invitee(event, now: now) } catch { reason = error.message }
            }
            guard let found else {
                throw AppCoreError(.noKeyPackage, "no usable key package of \(peer.npub): \(reason)")
            }
            invitees.append(found)
        }
        return invitees
    }

    private mutating func found(
        _ name: String, _ invitees: [Invitee], isDirect: Bool, _ step: inout CoreStep
    ) throws -> String {
        let own = self.account.publicKey
        guard let nostrGroupID = Bytes32(Secret.random(count: 32, using: &step.random).copyBytes()) else {
            preconditionFailure("32 bytes make a Bytes32")
        }
        let data = GroupData(
            nostrGroupID: nostrGroupID, name: name, description: "",
            admins: isDirect ? [own] + invitees.map(\.identity) : [own], relays: self.configuration.relays)
        let (group, welcomes) = try MarmotGroup.create(
            data, founder: own, inviting: invitees, client: self.configuration.client, now: step.now,
            using: &step.random)
        self.groups[group.groupID] = group
        self.index(group)
        self.dirtyGroups.insert(group.groupID)
        self.refreshChatList()
        self.resubscribe(&step)
        try self.send(welcomes, of: group, &step)
        return group.data.nostrGroupIDHex
    }

    /// Gift-wraps invitations and queues them.
    private mutating func send(_ welcomes: [DueWelcome], of group: MarmotGroup, _ step: inout CoreStep) throws {
        for welcome in welcomes {
            let wrap = try GiftWrap.wrap(
                welcome.rumor, from: self.account, to: welcome.recipient, now: step.now, using: &step.random)
            self.enqueue(
                id: "welcome/\(Hex.encode(group.groupID))/\(group.epoch)/\(welcome.recipient.hex)", wrap,
                to: self.allRelays, .welcome, &step)
        }
    }

    // MARK: Commits

    /// Makes a commit and publishes it; it is merged when a relay has it.
    mutating func commit(
        _ change: GroupChange, inChat chatID: String, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireIdle(groupID)
        guard
            let own = try self.groups[groupID]?.commit(
                change, client: self.configuration.client, now: step.now, using: &step.random),
            let stored = self.groups[groupID]?.storedPending(), let relays = self.groups[groupID]?.data.relays
        else { throw AppCoreError(.unknownChat, "no chat has the id \(chatID)") }
        self.dirtyGroups.insert(groupID)
        // Relays may take the commit just before a crash, so it is stored before it is published.
        let key = StoredGroupKey(groupID, isPending: true).bytes
        step.changes.append(.putGroupHeader(groupID: key, header: stored.header))
        step.changes.append(.updateGroup(groupID: key, stored.mls))
        _ = self.begin(.commit(groupID: groupID, event: own.event.id), request)
        self.enqueue(
            id: Self.commitRow(own.event.id), own.event, to: relays.isEmpty ? self.configuration.relays : relays,
            .commit,
            groupID: groupID, &step)
    }

    static func commitRow(_ event: EventID) -> String { "commit/\(event.hex)" }

    /// A relay has the pending commit: merge it, and send the invitations now, not before.
    mutating func confirmCommit(_ event: EventID, of groupID: [UInt8], _ step: inout CoreStep) {
        guard self.groups[groupID]?.pending?.event.id == event else { return }
        do {
            guard let (report, welcomes) = try self.groups[groupID]?.mergePending(), let group = self.groups[groupID]
            else { return }
            self.seen.insert(event)
            self.markSeen(event, &step)
            self.take(report, of: groupID, &step)
            try self.send(welcomes, of: group, &step)
            self.endCommit(event, of: groupID, .done(chatID: group.data.nostrGroupIDHex), &step)
        } catch {
            self.groups[groupID]?.clearPending()
            self.endCommit(event, of: groupID, .failed(AppCoreError(.notAllowed, "\(error)")), &step)
        }
    }

    /// No relay took the pending commit: it never happened.
    mutating func dropRefusedCommit(_ row: OutboxRow, reason: String, _ step: inout CoreStep) {
        guard let groupID = row.groupID, self.groups[groupID]?.pending?.event.id == row.event.id else { return }
        self.groups[groupID]?.clearPending()
        let failure = AppCoreError(.refused, "every relay refused the change: \(reason)")
        self.state.toast = failure.message
        self.endCommit(row.event.id, of: groupID, .failed(failure), &step)
        self.retryWaiting(of: groupID, &step)
    }

    /// Another member's commit took the place of the pending one.
    mutating func dropOwnCommit(of groupID: [UInt8], _ step: inout CoreStep) {
        for (_, operation) in self.operations {
            guard case .commit(groupID, let event) = operation.goal else { continue }
            self.endCommit(
                event, of: groupID,
                .failed(AppCoreError(.displaced, "another member changed the group at the same time; try again")), &step
            )
        }
    }

    private mutating func endCommit(
        _ event: EventID, of groupID: [UInt8], _ outcome: ActionOutcome, _ step: inout CoreStep
    ) {
        let row = Self.commitRow(event)
        if self.queue.remove(row) != nil { step.changes.append(.deleteOutbox(id: row)) }
        step.changes.append(.deleteGroup(groupID: StoredGroupKey(groupID, isPending: true).bytes))
        self.state.outbox.pending = self.queue.count
        for (number, operation) in self.operations {
            guard case .commit(groupID, event) = operation.goal else { continue }
            _ = self.end(number)
            self.finish(operation.request, outcome, &step)
        }
    }
}
