import MLS
import Marmot
import Nostr

/// The alternative states of each group, and the choice between them and the current state.
///
/// This account leaves a state when a better commit arrives, which most members may never see in time; when it accepts
/// an invitation, because an admin may invite a member again before its removal has arrived, or after the commit that
/// added it lost a race; and when it is removed. The branch in use is recognized by the events that its keys can open.
struct Branches: Sendable {
    /// The maximum number of states of one group from invitations; each is a whole group, and an admin can send any
    /// number of them.
    static let maximumRivals = 8
    /// Milliseconds that the removal, or the commits that lead to a later epoch, may take to arrive.
    static let rivalDelay: Int64 = 10_000
    /// Past epochs whose admins are remembered: as many as messages can still be opened for.
    private static let maximumPastEpochs = 5

    /// Alternative states of groups that this account is in.
    private var rivals: [GroupID: [Rival]] = [:]
    /// Branches abandoned for a better commit, the latest of each group.
    private var abandoned: [GroupID: AbandonedBranch] = [:]
    /// Decryptions that were attempted for branches since deleted.
    private var formerTrials = 0
    /// The admins of past epochs that can still be opened, by group.
    private var pastAdmins: [GroupID: [Epoch: Set<PublicKey>]] = [:]

    // MARK: Restart

    mutating func restoreLeft(_ group: MarmotGroup, of groupID: GroupID) {
        self.rivals[groupID, default: []].append(Rival(invite: nil, group: group))
    }

    mutating func restoreAbandoned(_ group: MarmotGroup, of groupID: GroupID, at epoch: Epoch) {
        self.abandoned[groupID] = AbandonedBranch(group: group, epoch: epoch)
    }

    // MARK: The branch in use

    /// Removes and returns the state that the members continue in; nil if that is the current one.
    ///
    /// - Parameters:
    ///   - fresh: events that arrived since the last call: earlier ones were compared then.
    ///   - waiting: all waiting events of the group.
    mutating func branchInUse(
        of groupID: GroupID, _ fresh: [Event], besides account: PublicKey, waiting: () -> [Event],
        _ step: inout CoreStep
    ) -> Rival? {
        // Once an abandoned branch is more epochs ahead than any member can roll back, the members stay on it.
        self.abandoned[groupID]?.observe(fresh, now: step.now, waiting: waiting)
        if let branch = self.abandoned[groupID], branch.isContinued(besides: account) {
            self.forgetAbandoned(of: groupID, &step)
            return Rival(invite: nil, group: branch.group)
        }
        for position in (self.rivals[groupID] ?? []).indices
        where self.rivals[groupID]?[position].group.isActive == true {
            let opens = self.rivals[groupID]?[position].opens(fresh, now: step.now, waiting: waiting)
            if opens == true { return self.rivals[groupID]?.remove(at: position) }
        }
        return nil
    }

    // MARK: Rivals

    func hasRivals(of groupID: GroupID) -> Bool { self.rivals[groupID] != nil }

    func hasRival(of groupID: GroupID, invitedBy wrapper: EventID) -> Bool {
        self.rivals[groupID]?.contains { $0.invite?.wrapper == wrapper } == true
    }

    /// Adds the state of an invitation. Above the limit, drops the oldest invitation and returns its event id.
    mutating func add(_ rival: Rival) -> EventID? {
        let groupID = rival.group.groupID
        self.rivals[groupID, default: []].append(rival)
        guard let invited = self.rivals[groupID]?.compactMap({ $0.invite?.wrapper }), invited.count > Self.maximumRivals
        else { return nil }
        self.rivals[groupID]?.removeAll { $0.invite?.wrapper == invited[0] }
        return invited[0]
    }

    /// Removes and returns the invitation's state with the latest epoch; nil if none is after this epoch.
    mutating func removeLatest(of groupID: GroupID, after epoch: Epoch) -> Rival? {
        guard let rivals = self.rivals[groupID] else { return nil }
        let later = rivals.indices.filter { rivals[$0].invite != nil && rivals[$0].group.epoch > epoch }
        return later.max { rivals[$0].group.epoch < rivals[$1].group.epoch }.flatMap {
            self.rivals[groupID]?.remove(at: $0)
        }
    }

    /// Removes and returns the states of an invitation.
    mutating func removeAll(invitedBy wrapper: EventID) -> [Rival] {
        self.rivals.keys.compactMap { groupID in
            let position = self.rivals[groupID]?.firstIndex { $0.invite?.wrapper == wrapper }
            return position.flatMap { self.rivals[groupID]?.remove(at: $0) }
        }
    }

    /// Keeps a state that this account leaves: the members may continue in it, or its messages may arrive late.
    mutating func leave(_ known: MarmotGroup, _ step: inout CoreStep) {
        let groupID = known.groupID
        self.rivals[groupID, default: []].removeAll { $0.invite == nil && $0.group.isActive == known.isActive }
        let rival = Rival(invite: nil, group: known)
        self.rivals[groupID]?.append(rival)
        let stored = known.stored
        step.storeState(header: stored.header, stored.records, as: rival.storedKey)
    }

    /// Opens a late message of an earlier membership, which ended with this account's removal.
    mutating func openLate(
        _ event: Event, of groupID: GroupID, _ step: inout CoreStep
    ) -> (message: ReceivedMessage, role: MemberRole?)? {
        guard let position = self.rivals[groupID]?.firstIndex(where: { $0.invite == nil && !$0.group.isActive }),
            var earlier = self.rivals[groupID]?[position].group,
            case .message(let message) = earlier.ingest(event, now: step.now)
        else { return nil }
        let changes = earlier.drainChanges()
        let key = StoredGroupKey.leftBranch(groupID, isActive: false)
        if let header = changes.header { step.changes.append(.putGroupHeader(key: key, header: header)) }
        step.changes.append(.updateGroup(key: key, changes.mls))
        self.rivals[groupID]?[position].group = earlier
        return (message, earlier.data(inEpoch: message.epoch).map { MemberRole(of: message.rumor.pubkey, in: $0) })
    }

    /// Drops other states once they are beyond the reach of races. Returns the invitations that led to some.
    mutating func dropOldRivals(of known: MarmotGroup, _ step: inout CoreStep) -> [EventID] {
        let groupID = known.groupID
        guard let rivals = self.rivals[groupID] else { return [] }
        let age = known.profile.pastEpochs
        var invites: [EventID] = []
        for rival in rivals where !rival.group.epoch.isWithin(age, of: known.epoch) {
            if let invite = rival.invite {
                invites.append(invite.wrapper)
            } else {
                step.changes.append(.deleteGroup(key: rival.storedKey))
            }
        }
        self.rivals[groupID] = rivals.filter { $0.group.epoch.isWithin(age, of: known.epoch) }
        return invites
    }

    // MARK: Abandoned branches

    /// Outer-layer decryptions attempted for abandoned branches.
    var trialCount: Int { self.abandoned.values.reduce(self.formerTrials) { $0 + $1.trialCount } }

    func trialCount(of groupID: GroupID) -> Int? { self.abandoned[groupID]?.trialCount }

    /// Stores a branch that was abandoned for a better commit.
    ///
    /// - Parameter epoch: the epoch that the better commit ended.
    mutating func abandon(_ group: MarmotGroup, at epoch: Epoch, _ step: inout CoreStep) {
        self.forgetAbandoned(of: group.groupID, &step)
        self.abandoned[group.groupID] = AbandonedBranch(group: group, epoch: epoch)
        let stored = group.stored
        step.storeState(
            header: stored.header, stored.records, as: StoredGroupKey.abandonedBranch(group.groupID, epoch))
    }

    private mutating func forgetAbandoned(of groupID: GroupID, _ step: inout CoreStep) {
        guard let branch = self.abandoned.removeValue(forKey: groupID) else { return }
        self.formerTrials += branch.trialCount
        step.changes.append(.deleteGroup(key: StoredGroupKey.abandonedBranch(groupID, branch.epoch)))
    }

    /// Drops the branch after a commit on the current one once it is beyond the reach of races.
    mutating func forgetOldAbandoned(of known: MarmotGroup, _ step: inout CoreStep) {
        guard let branch = self.abandoned[known.groupID],
            !branch.epoch.isWithin(known.profile.pastEpochs, of: known.epoch)
        else { return }
        self.forgetAbandoned(of: known.groupID, &step)
    }

    /// Records that an event of these groups no longer waits.
    mutating func forget(_ id: EventID, in groups: [GroupID]) {
        for groupID in groups { self.abandoned[groupID]?.forget(id) }
    }

    /// Whether the branch that a commit ended had removed its committer.
    func hadRemoved(committerOf report: CommitReport, from groupID: GroupID) -> Bool {
        guard let branch = self.abandoned[groupID], branch.epoch == report.epochBefore else { return false }
        return !branch.group.members.contains(report.committer)
    }

    // MARK: Past admins

    /// Whether a member was an admin in a past epoch; nil if that is not remembered.
    func wasAdmin(_ member: PublicKey, inEpoch epoch: Epoch, of groupID: GroupID) -> Bool? {
        self.pastAdmins[groupID]?[epoch].map { $0.contains(member) }
    }

    /// Records the admins of the epoch that a commit has ended, and drops those of later epochs that it undid.
    mutating func rememberAdmins(before report: CommitReport, of groupID: GroupID) {
        let oldest = report.epochAfter.earlier(by: Self.maximumPastEpochs)
        var past = (self.pastAdmins[groupID] ?? [:]).filter { $0.key >= oldest && $0.key < report.epochBefore }
        past[report.epochBefore] = Set(report.before.admins)
        self.pastAdmins[groupID] = past
    }

    /// Drops the admins of the past epochs of a state that this account has left.
    mutating func forgetAdmins(of groupID: GroupID) { self.pastAdmins[groupID] = nil }
}

extension CoreStep {
    /// Stores another complete state of a group under a key of its own.
    mutating func storeState(header: Secret, _ records: [GroupRecord: Secret], as key: [UInt8]) {
        self.changes.append(.putGroupHeader(key: key, header: header))
        self.changes.append(
            .updateGroup(key: key, GroupStorageChanges(replacesAll: true, records: records.mapValues { .some($0) })))
    }
}
