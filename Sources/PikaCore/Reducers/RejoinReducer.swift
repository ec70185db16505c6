import MLS
import Marmot
import Nostr

/// Invitations to a group that this account is already in.
///
/// An admin invites a member again after a removal that has not arrived yet, or because the commit that added it lost a
/// race: then this member is on a branch that all others have abandoned, and no commit can lead it back. The branch in
/// use is recognized by the events that its keys can open.
extension CoreModel {
    /// Another state of a group that this account is in.
    struct Rival: Sendable {
        /// The invitation that leads to it; nil for a state that this account left for another one.
        let invite: (wrapper: EventID, invitation: WelcomeEvents.Invitation)?
        var group: MarmotGroup
        /// The state after the waiting events were applied. Not stored.
        private var probe: MarmotGroup
        private var isFresh = true

        init(invite: (wrapper: EventID, invitation: WelcomeEvents.Invitation)?, group: MarmotGroup) {
            self.invite = invite
            self.group = group
            self.probe = group
        }

        /// Whether it opens one of the events: newly arrived ones, or all waiting ones on the first call.
        mutating func opens(_ fresh: [Event], now: Int64, waiting: () -> [Event]) -> Bool {
            let events = self.isFresh ? waiting() : fresh
            self.isFresh = false
            for event in events {
                switch self.probe.ingest(event, now: now) {
                case .message, .proposal: return true
                // A state that this account was removed from is not worth returning to.
                case .commit(let report): if !report.removedSelf { return true }
                case .waiting, .refused, .ownCommit, .ownEcho, .otherCopy: break
                }
            }
            return false
        }
    }

    /// The maximum number of states of one group from invitations; each is a whole group, and an admin can send any
    /// number of them.
    static let maximumRivals = 8

    /// Milliseconds that the removal, or the commits that lead to a later epoch, may take to arrive.
    static let patienceWithRivals: Int64 = 10_000

    /// Whether an invitation leads to another state than the group's own. Only an admin can move a member to another
    /// state, and an invitation can be used once: its keys must not be used twice.
    func isRival(_ group: MarmotGroup, of known: MarmotGroup, _ invitation: WelcomeEvents.Invitation) -> Bool {
        guard known.data.isAdmin(invitation.inviter), !self.seen.contains(self.welcomeKey(invitation)) else {
            return false
        }
        return group.epoch != known.epoch || group.mls.epochAuthenticator != known.mls.epochAuthenticator
    }

    mutating func await(_ rival: Rival, _ step: inout CoreStep) {
        let groupID = rival.group.groupID
        self.rivals[groupID, default: []].append(rival)
        self.boundRivals(of: groupID, &step)
        step.effects.append(
            .wake(.rejoin(groupID: groupID), atMilliseconds: step.nowMilliseconds + Self.patienceWithRivals))
        self.compareRivals(of: groupID, with: [], &step)
    }

    private mutating func boundRivals(of groupID: GroupID, _ step: inout CoreStep) {
        guard let invited = self.rivals[groupID]?.filter({ $0.invite != nil }), invited.count > Self.maximumRivals,
            let oldest = invited.first?.invite
        else { return }
        self.rivals[groupID]?.removeAll { $0.invite?.wrapper == oldest.wrapper }
        if let stored = self.invites[oldest.wrapper] { self.forget(stored, &step) }
        step.refuse("too_many_invites", "the oldest of many invitations to one group was dropped", oldest.wrapper)
    }

    /// Switches to a rival that opens events which this account cannot open.
    ///
    /// - Parameter fresh: events that arrived since the last call: earlier ones were compared then.
    mutating func compareRivals(of groupID: GroupID, with fresh: [Event], _ step: inout CoreStep) {
        if self.leadsBack(to: groupID, fresh, now: step.now), let branch = self.abandoned[groupID] {
            self.forgetAbandoned(of: groupID, &step)
            self.rivals[groupID, default: []].append(Rival(invite: nil, group: branch.group))
            return self.adopt((self.rivals[groupID]?.count ?? 1) - 1, of: groupID, &step)
        }
        let (waiting, ids) = (self.waiting, self.routes.ids(of: groupID))
        for position in (self.rivals[groupID] ?? []).indices
        where self.rivals[groupID]?[position].group.isActive == true {
            let opens = self.rivals[groupID]?[position].opens(fresh, now: step.now) { waiting.events(under: ids) }
            guard opens == true else { continue }
            self.adopt(position, of: groupID, &step)
            return
        }
    }

    /// Switches to the later epoch of an invitation if no event led there, although the relays were read.
    mutating func settleRivals(of groupID: GroupID, _ step: inout CoreStep) {
        guard let rivals = self.rivals[groupID], let known = self.groups[groupID], known.isActive else { return }
        guard !self.isReading(groupID) else {
            step.effects.append(
                .wake(.rejoin(groupID: groupID), atMilliseconds: step.nowMilliseconds + Self.patienceWithRivals))
            return
        }
        let later = rivals.indices.filter { rivals[$0].invite != nil && rivals[$0].group.epoch > known.epoch }
        if let position = later.max(by: { rivals[$0].group.epoch < rivals[$1].group.epoch }) {
            self.adopt(position, of: groupID, &step)
        }
    }

    /// Switches to the rival of an invitation that was accepted manually.
    mutating func adopt(_ wrapper: EventID, _ step: inout CoreStep) {
        for (groupID, rivals) in self.rivals {
            guard let position = rivals.firstIndex(where: { $0.invite?.wrapper == wrapper }) else { continue }
            self.adopt(position, of: groupID, &step)
        }
    }

    /// Leaves the known state of a group for another one; it is kept, in case it turns out to be the one in use.
    private mutating func adopt(_ position: Int, of groupID: GroupID, _ step: inout CoreStep) {
        guard let known = self.groups[groupID], let rival = self.rivals[groupID]?.remove(at: position) else { return }
        step.effects.append(.note(.commit(result: "changed_branch")))
        if let invite = rival.invite {
            if let stored = self.invites[invite.wrapper] { self.forget(stored, &step) }
        } else {
            let key = StoredGroupKey.leftBranch(groupID, isActive: rival.group.isActive)
            step.changes.append(.deleteGroup(groupID: key))
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
        if let known = self.groups[groupID] { self.leave(known, &step) }
        for part in self.groups[groupID]?.parts ?? [] {
            step.changes.append(.deleteGroup(groupID: StoredGroupKey(groupID, part).bytes))
        }
        self.releaseIntents(of: groupID, &step)
        group.markAllChanged()
        self.groups[groupID] = group
        self.pastAdmins[groupID] = nil
        self.noteEntry(of: groupID, &step)
        self.index(group, &step)
        self.groups.markChanged(groupID)
        self.enterCopied(groupID, by: invitation, &step)
        self.beginChat(of: groupID, &step)
        self.resubscribe(&step)
        self.wantProfiles(of: group.members, &step)
        if let invitation {
            self.distrustGroupProfiles(of: groupID, &step)
            let name = Self.joinedCursor(groupID)
            // Events between this cursor and now are read: a time in the future would hide them.
            let time = min(invitation.createdAt, step.now)
            self.cursors[name] = max(self.cursors[name] ?? 0, time)
            step.changes.append(.advanceCursor(name: name, to: time))
            self.remember(self.welcomeKey(invitation), &step)
            self.deliver(
                .joined(
                    JoinEvent(
                        inviter: invitation.inviter, name: group.data.name, epoch: group.epoch.rawValue,
                        memberCount: group.members.count)), of: groupID, &step)
            self.noteJoin(of: groupID, &step)
            self.readBacklog(of: groupID, &step)
            if let package = self.keyPackages.package(for: invitation) { self.consume(package, &step) }
        }
        self.retryWaiting(of: groupID, &step)
    }

    /// Keeps the state that is left: it may be the one in use, or its messages may arrive late.
    private mutating func leave(_ known: MarmotGroup, _ step: inout CoreStep) {
        let groupID = known.groupID
        self.rivals[groupID, default: []].removeAll { $0.invite == nil && $0.group.isActive == known.isActive }
        self.rivals[groupID]?.append(Rival(invite: nil, group: known))
        let stored = known.stored
        let key = StoredGroupKey.leftBranch(groupID, isActive: known.isActive)
        step.changes.append(.putGroupHeader(groupID: key, header: stored.header))
        step.changes.append(
            .updateGroup(
                groupID: key, GroupStorageChanges(replacesAll: true, records: stored.records.mapValues { .some($0) })))
    }

    /// Processes a late message of an earlier membership, which ended with this account's removal.
    mutating func takeForEarlierMembership(_ event: Event, of groupID: GroupID, _ step: inout CoreStep) -> Bool {
        guard let position = self.rivals[groupID]?.firstIndex(where: { $0.invite == nil && !$0.group.isActive }),
            var earlier = self.rivals[groupID]?[position].group,
            case .message(let message) = earlier.ingest(event, now: step.now)
        else { return false }
        let changes = earlier.drainChanges()
        let key = StoredGroupKey.leftBranch(groupID, isActive: false)
        if let header = changes.header { step.changes.append(.putGroupHeader(groupID: key, header: header)) }
        step.changes.append(.updateGroup(groupID: key, changes.mls))
        self.rivals[groupID]?[position].group = earlier
        self.remember(event.id, &step)
        self.forgetWaiting(event.id, &step)
        let role = earlier.data(inEpoch: message.epoch).map { MemberRole(of: message.rumor.pubkey, in: $0) }
        self.take(message, role, of: groupID, &step)
        return true
    }

    /// Returns the id of a Welcome among the seen ids: it may arrive in many gift wraps.
    func welcomeKey(_ invitation: WelcomeEvents.Invitation) -> EventID {
        self.key(SHA256Derivation.digest(invitation.welcome.encryptedGroupInfo))
    }

    /// Drops other states once they are beyond the reach of races.
    mutating func dropOldRivals(of groupID: GroupID, _ step: inout CoreStep) {
        guard let rivals = self.rivals[groupID], let known = self.groups[groupID] else { return }
        let age = known.profile.pastEpochs
        for rival in rivals where !rival.group.epoch.isWithin(age, of: known.epoch) {
            if let invite = rival.invite {
                if let stored = self.invites[invite.wrapper] { self.forget(stored, &step) }
            } else {
                let key = StoredGroupKey.leftBranch(groupID, isActive: rival.group.isActive)
                step.changes.append(.deleteGroup(groupID: key))
            }
        }
        self.rivals[groupID] = rivals.filter { $0.group.epoch.isWithin(age, of: known.epoch) }
    }

    // MARK: Restart

    /// Resumes pending invitations to groups that this account is in.
    mutating func resumeRivals(_ step: inout CoreStep) {
        for entry in self.state.invites where self.configuration.invites.admits(entry.inviter) {
            if let invite = self.invites[entry.wrapper] { self.takeUp(invite, &step) }
        }
    }
}
