import MLS
import Marmot
import Nostr

/// Switches groups between their states (``Branches``): invitations to a group that this account is already in, and
/// branches abandoned for a better commit.
extension CoreModel {
    /// Stores the branch that a group has just abandoned, if any.
    ///
    /// - Parameter epoch: the epoch that the better commit ended; nil if the branch is that of the losing commit.
    mutating func keepAbandoned(of groupID: GroupID, at epoch: Epoch?, _ step: inout CoreStep) {
        guard let branch = self.groups[first: groupID]?.popAbandoned() else { return }
        self.convergence.branches.abandon(branch, at: epoch ?? branch.epoch.earlier(by: 1), &step)
    }

    /// Drops a group's abandoned branch once it is beyond the reach of races.
    mutating func forgetOldAbandoned(of groupID: GroupID, _ step: inout CoreStep) {
        if let group = self.groups[first: groupID] { self.convergence.branches.forgetOldAbandoned(of: group, &step) }
    }

    /// Records the admins of the epoch that a commit has ended.
    mutating func rememberAdmins(before report: CommitReport, of groupID: GroupID) {
        self.convergence.branches.rememberAdmins(before: report, of: groupID)
    }

    /// Records that an event no longer waits for a branch of the groups that claim its routing id.
    mutating func endWaiting(of id: EventID, under nostrGroupID: Bytes32) {
        self.convergence.branches.forget(id, in: self.groups.routes.groups(claiming: nostrGroupID))
    }

    /// Whether an invitation leads to a state that differs from the group's. Only an admin can move a member to another
    /// state, and an invitation can be used once: its keys must not be used twice.
    func isRival(_ group: MarmotGroup, of known: MarmotGroup, _ invitation: WelcomeEvents.Invitation) -> Bool {
        guard known.data.isAdmin(invitation.inviter),
            !self.inbound.seen.contains(self.welcomeKey(invitation.welcome))
        else { return false }
        return group.epoch != known.epoch || group.mls.epochAuthenticator != known.mls.epochAuthenticator
    }

    mutating func await(_ rival: Rival, _ step: inout CoreStep) {
        let groupID = rival.group.groupID
        if let dropped = self.convergence.branches.add(rival) {
            self.forgetInvite(dropped, &step)
            step.refuse(.tooManyInvites, "the oldest of many invitations to one group was dropped", dropped)
        }
        step.effects.append(
            .wake(.rejoin(groupID: groupID), atMilliseconds: step.nowMilliseconds + Branches.rivalDelay))
        self.compareRivals(of: groupID, with: [], &step)
    }

    private mutating func forgetInvite(_ wrapper: EventID, _ step: inout CoreStep) {
        if let stored = self.invitations[wrapper] { self.forget(stored, &step) }
    }

    /// Switches to another state of a group that opens events which this account cannot open.
    ///
    /// - Parameter fresh: events that arrived since the last call: earlier ones were compared then.
    mutating func compareRivals(of groupID: GroupID, with fresh: [Event], _ step: inout CoreStep) {
        let (waiting, ids) = (self.inbound.waiting, self.groups.routes.ids(of: groupID))
        let rival = self.convergence.branches.branchInUse(
            of: groupID, fresh, besides: self.account.publicKey, waiting: { waiting.events(under: ids) }, &step)
        if let rival { self.adopt(rival, &step) }
    }

    /// Switches to the later epoch of an invitation if no event led there, although the relays were read.
    mutating func resolveRivals(of groupID: GroupID, _ step: inout CoreStep) {
        if self.groups[second: groupID] != nil { return self.resolveInvitations(to: groupID, &step) }
        guard self.convergence.branches.hasRivals(of: groupID), let known = self.groups[first: groupID], known.isActive
        else { return }
        guard !self.isReading(groupID) else {
            step.effects.append(
                .wake(.rejoin(groupID: groupID), atMilliseconds: step.nowMilliseconds + Branches.rivalDelay))
            return
        }
        let rival = self.convergence.branches.removeLatest(of: groupID, after: known.epoch)
        if let rival { self.adopt(rival, &step) }
    }

    /// Switches to the rival of an invitation that was accepted manually.
    mutating func adopt(_ wrapper: EventID, _ step: inout CoreStep) {
        for rival in self.convergence.branches.removeAll(invitedBy: wrapper) { self.adopt(rival, &step) }
    }

    /// Leaves the known state of a group for another one; it is kept, in case the members continue in it.
    private mutating func adopt(_ rival: Rival, _ step: inout CoreStep) {
        let groupID = rival.group.groupID
        guard let known = self.groups[first: groupID] else { return }
        step.effects.append(.note(.commit(result: "changed_branch")))
        if let invite = rival.invite {
            self.forgetInvite(invite.wrapper, &step)
        } else {
            step.changes.append(.deleteGroup(key: rival.storedKey))
        }
        self.enter(rival.group, by: rival.invite?.invitation, &step)
        self.startReseal(of: groupID, fromEpoch: known.firstUndecidedEpoch, &step)
        self.compareRivals(of: groupID, with: [], &step)
    }

    /// Becomes a member of a group, or continues in another state of it, which does not follow from the current one.
    ///
    /// - Parameter invitation: nil for a state that this account had left.
    mutating func enter(_ group: MarmotGroup, by invitation: WelcomeEvents.Invitation?, _ step: inout CoreStep) {
        let groupID = group.groupID
        var group = group
        if let known = self.groups[first: groupID] { self.convergence.branches.leave(known, &step) }
        for part in self.groups[first: groupID]?.parts ?? [] {
            step.changes.append(.deleteGroup(key: StoredGroupKey(groupID, part).bytes))
        }
        self.releaseIntents(of: groupID, &step)
        group.markAllChanged()
        self.groups.insert(.first(group))
        self.convergence.branches.forgetAdmins(of: groupID)
        self.completeEntry(into: .first(group), by: invitation.map { GroupEntry($0) }, &step)
    }

    /// Processes a late message of an earlier membership, which ended with this account's removal.
    mutating func openForEarlierMembership(_ event: Event, of groupID: GroupID, _ step: inout CoreStep) -> Bool {
        guard let (message, role) = self.convergence.branches.openLate(event, of: groupID, &step) else { return false }
        self.remember(event.id, &step)
        self.forgetWaiting(event.id, &step)
        self.receiveMessage(message, role, of: groupID, &step)
        return true
    }

    /// Drops other states once they are beyond the reach of races.
    mutating func dropOldRivals(of groupID: GroupID, _ step: inout CoreStep) {
        guard let known = self.groups[first: groupID] else { return }
        for wrapper in self.convergence.branches.dropOldRivals(of: known, &step) { self.forgetInvite(wrapper, &step) }
    }

    // MARK: Restart

    /// Resumes pending invitations to groups that this account is in.
    mutating func resumeRivals(_ step: inout CoreStep) {
        for entry in self.state.invites where self.configuration.invites.admits(entry.inviter) {
            if let invite = self.invitations[entry.wrapper] { self.resumeInvite(invite, &step) }
        }
    }
}
