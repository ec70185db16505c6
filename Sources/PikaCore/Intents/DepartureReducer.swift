import MLS
import Marmot
import Nostr

/// Leaving groups, and executing the departure of others (MIP-03, docs/protocol/marmot.md §5.10).
extension CoreModel {
    /// Proposes this account's departure, or first gives up its admin role. A proposal ends with its epoch, so this
    /// repeats after every commit until one removes this account.
    mutating func proposeDeparture(_ intent: GroupIntent, _ step: inout CoreStep) throws {
        let groupID = intent.groupID
        guard let group = self.groups[groupID], group.isActive else {
            return self.conclude(intent, .done(chatID: nil), &step)
        }
        if group.isAdmin, group.members.count > 1 {
            if let admins = try self.adminsForDeparture(intent) {
                var data = group.data
                data.admins = admins
                return try self.commit(.update(data), for: intent, &step)
            }
            return try self.commit(.selfDemote, for: intent, &step)
        }
        guard let event = try self.groups[first: groupID]?.leave(now: step.now, using: &step.random) else { return }
        self.groups.markChanged(groupID)
        var intent = intent
        intent.phase = .proposed(event.id, epoch: group.epoch)
        self.put(intent, &step)
        self.refreshChat(groupID)
        self.enqueue(
            id: Self.proposalRow(event.id), event, to: self.relays(of: group), .proposal, groupID: groupID, &step)
    }

    /// Throws if an account cannot become an admin in place of this one.
    func requireSuccessor(_ account: PublicKey, in groupID: GroupID) throws(AppCoreError) {
        guard account != self.account.publicKey, self.groups[groupID]?.members.contains(account) == true else {
            throw AppCoreError(
                .notAllowed, "the successor must be another member of the group: \(account.npub) is none")
        }
    }

    /// Returns the admins with the successor of this account; nil if it has none, or if the successor is an admin already.
    func adminsForDeparture(_ intent: GroupIntent) throws(AppCoreError) -> [PublicKey]? {
        guard let successor = intent.successor, let admins = self.groups[intent.groupID]?.data.admins,
            !admins.contains(successor)
        else { return nil }
        try self.requireSuccessor(successor, in: intent.groupID)
        return admins + [successor]
    }

    static func proposalRow(_ event: EventID) -> String { "proposal/\(event.hex)" }

    /// Whether this account has left a group: a relay has its departure, even if no member has executed it yet.
    func hasLeft(_ groupID: GroupID) -> Bool { self.chats[groupID]?.end == .left }

    /// Throws if this account must not act in a group, because it has left, another copy has changed the keys, or a group
    /// of the second generation accepts nothing more.
    func requireMembership(in groupID: GroupID) throws(AppCoreError) {
        if self.convergence.copies.isOvertaken(groupID) { throw AppCoreError.overtaken }
        if self.hasLeft(groupID) { throw AppCoreError(.notAllowed, "this account has left the group") }
        if let error = self.endOfGroup(groupID) { throw error }
    }

    /// Ends this account's membership in a group: a relay has the proposal, so that the others can execute it.
    mutating func confirmProposal(_ event: EventID, of groupID: GroupID, _ step: inout CoreStep) {
        guard var intent = self.intents.intent(proposedBy: event) else { return }
        self.changeChat(groupID) { $0.end = .left }
        self.refreshChat(groupID)
        self.showTyping(in: groupID)
        self.closeScreens(of: groupID, &step)
        self.finish(intent.request, .done(chatID: self.chatID(of: groupID)), &step)
        intent.request = nil
        self.put(intent, &step)
    }

    /// Abandons a departure that every relay refused, so that this account stays. A departure that a relay accepted
    /// before is proposed again in the next epoch instead.
    mutating func dropRefusedProposal(_ event: EventID, reason: String, _ step: inout CoreStep) {
        guard let intent = self.intents.intent(proposedBy: event) else { return }
        guard !self.hasLeft(intent.groupID) else {
            return step.effects.append(.note(.sendFailed(reason: "departure: \(reason)")))
        }
        self.abandon(intent, AppCoreError(.refused, "every relay refused the departure: \(reason)"), &step)
        self.refreshChat(intent.groupID)
    }

    // MARK: Departures of others

    /// Schedules the execution of departures that this account may commit. Every member may, so each waits for a random
    /// time, admins for less than others; the first one spares the others a race.
    mutating func awaitDepartures(of groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[first: groupID], !group.dueDepartures.isEmpty else { return }
        let delay = Int64.random(in: group.isAdmin ? 0...3000 : 3000...10_000, using: &step.random)
        step.effects.append(.wake(.departures(groupID: groupID), atMilliseconds: step.nowMilliseconds + delay))
    }

    /// Executes the departures that no other member has executed in the meantime.
    mutating func commitDepartures(of groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[first: groupID], !group.dueDepartures.isEmpty,
            !self.convergence.copies.isOvertaken(groupID),
            self.intents.mayCommitDepartures(of: groupID, in: group.epoch)
        else { return }
        self.addIntent(.commitDepartures, groupID, nil, &step)
    }

    /// Schedules the departures that were due when the previous process ended.
    mutating func startDepartures(_ step: inout CoreStep) {
        for groupID in self.groups.keys.sorted() {
            self.awaitDepartures(of: groupID, &step)
        }
    }
}

extension CommitReport {
    /// Returns the reason that the chat shows after this commit has removed this account.
    func endOfMembership(of account: PublicKey) -> AppState.ChatEnd {
        self.left.contains(account) ? .left : .removed(by: self.committer)
    }
}
