import MLS
import Marmot
import Nostr

/// A commit by this account that a relay may have, in the second generation: its event, and the invitations to send
/// after it.
struct PendingOwnCommit: Sendable, Hashable {
    /// The kind 445 event; published unchanged.
    let event: Event
    /// SHA-256 of the commit's MLSMessage.
    let digest: Bytes32
    /// The epoch that the commit ends.
    let epoch: Epoch
    /// Invitations to send once the commit is part of the selected history.
    let welcomes: [DueWelcome]
}

/// A group of the second generation: the selection of its branch, and the state of this account's own commits.
///
/// A value: reducers pass messages and times in, and carry out the effects in the same turn in which
/// ``drainChanges()`` is stored. Times are milliseconds of the monotonic clock (``CoreStep/monotonicMilliseconds``).
struct ConvergingGroup: Sendable {
    typealias Effect = ConvergenceEffect<ComponentBranch>

    /// The size of the invitations of own commits above which nobody else is invited: no relay accepted these commits, and
    /// they may still come back.
    static let maximumInvitationBytes = 8 << 20

    /// The selection of the group's branch.
    private(set) var convergence: GroupConvergence<ComponentBranch> {
        _read { yield self.sharedConvergence.value }
        _modify { yield &self.sharedConvergence.value }
    }
    private var sharedConvergence: CopyOnWrite<GroupConvergence<ComponentBranch>>
    /// Own commits whose invitations ``popWelcomes()`` has not returned: the pending one, abandoned ones that may still win,
    /// and those that did.
    private(set) var ownCommits: [PendingOwnCommit] = []
    /// The stored rows.
    private var rows: ConvergenceRows
    private var storedOwnCommits: Set<Bytes32>
    /// The state of the tip, as groups of both generations have it.
    private(set) var data: GroupData
    private(set) var outerKeyRing: OuterKeyRing
    /// Public ids that events may carry beside the current one: former ones, and those of other branches.
    private(set) var otherNostrGroupIDs: [Bytes32]
    /// Relays on which events may arrive beside the current ones: those of earlier epochs that can still be read, where a
    /// rival of the commit that changed them is published, and those of other branches.
    private(set) var otherRelays: [RelayURL]
    /// The values from which ``data`` and ``outerKeyRing`` were made.
    private var shown: Shown

    private struct Shown: Sendable, Hashable {
        let tip: BranchPoint
        let version: UInt64
        let pending: Bytes32?
    }

    /// Creates the value of a group that this account founded or joined.
    init(_ group: ComponentGroup) {
        self.init(
            GroupConvergence(ComponentBranch(group), id: Self.firstPoint(of: group)), ownCommits: [],
            rows: ConvergenceRows())
    }

    /// Restores a stored group. Its clock stands still until ``resume(now:)``.
    ///
    /// - Parameter now: the monotonic clock.
    init(restoring stored: StoredConvergingGroup, account: PublicKey, now: Int64) throws(MarmotError) {
        guard let rows = stored.rows else {
            throw MarmotError(.badStoredForm, "the selected state of a group is missing")
        }
        var ownCommits: [PendingOwnCommit] = []
        for (digest, content) in stored.ownCommits.sorted(by: { $0.key < $1.key }) {
            guard let commit = PendingOwnCommit(stored: content), commit.digest == digest else {
                throw MarmotError(.badStoredForm, "an own commit of a group cannot be read")
            }
            ownCommits.append(commit)
        }
        let restored = try rows.restore(account: account, now: now)
        self.init(restored.convergence, ownCommits: ownCommits, rows: restored.rows)
    }

    private init(
        _ convergence: GroupConvergence<ComponentBranch>, ownCommits: [PendingOwnCommit], rows: ConvergenceRows
    ) {
        self.sharedConvergence = CopyOnWrite(convergence)
        self.ownCommits = ownCommits
        self.rows = rows
        self.storedOwnCommits = Set(ownCommits.map(\.digest))
        self.shown = Self.shown(of: convergence)
        self.data = GroupData(convergence.tip.group.state)
        let states = convergence.readableStates.map(\.group)
        self.outerKeyRing = ComponentGroup.outerKeyRing(over: states)
        self.otherNostrGroupIDs = Self.otherIDs(of: states)
        self.otherRelays = Self.otherRelays(of: states)
    }

    /// The name of the first known point: SHA-256 of the group id and the epoch.
    private static func firstPoint(of group: ComponentGroup) -> Bytes32 {
        Bytes32(sha256: group.groupID.bytes + group.epoch.bytes)
    }

    private static func shown(of convergence: GroupConvergence<ComponentBranch>) -> Shown {
        Shown(
            tip: convergence.tipPoint, version: convergence.version, pending: convergence.pendingCommit?.input.id)
    }

    /// Returns the public ids of readable states, the tip first, without the current one.
    private static func otherIDs(of states: [ComponentGroup]) -> [Bytes32] {
        guard let tip = states.first else { return [] }
        var seen: Set<Bytes32> = [tip.nostrGroupID]
        return (tip.formerNostrGroupIDs + states.dropFirst().map(\.nostrGroupID)).filter { seen.insert($0).inserted }
    }

    /// Returns the relays of readable states, the tip first, without the current ones.
    private static func otherRelays(of states: [ComponentGroup]) -> [RelayURL] {
        guard let tip = states.first else { return [] }
        var seen = Set(tip.relayURLs)
        return states.dropFirst().flatMap(\.relayURLs).filter { seen.insert($0).inserted }
    }

    // MARK: Queries

    /// All public ids that events may carry, the current one first.
    var readIDs: [Bytes32] { [self.data.nostrGroupID] + self.otherNostrGroupIDs }

    /// All relays on which events may arrive, the current ones first.
    var readRelays: [RelayURL] { self.data.relays + self.otherRelays }

    /// The group in the selected epoch.
    var tip: ComponentGroup { self.convergence.tip.group }

    var groupID: GroupID { self.tip.groupID }

    var account: PublicKey { self.tip.account }

    /// Whether this account is a member, and the group accepts changes.
    var isActive: Bool { self.convergence.halt == nil && self.convergence.tip.standing == .member }

    /// Whether the secrets of this group were deleted, because this account is out of it.
    var isRetired: Bool { self.tip.isErased }

    /// This account's own commit that is being published; after a restart, its event is published again.
    var pending: PendingOwnCommit? {
        self.convergence.pendingCommit.flatMap { pending in self.ownCommits.first { $0.digest == pending.input.id } }
    }

    /// Members that proposed their departure, which this account may commit. Whether it may do so now is
    /// `convergence.mayCommitDepartures(of:)`.
    var dueDepartures: [PublicKey] {
        guard self.isActive else { return [] }
        let tip = self.tip
        let leavers = self.convergence.openProposals.map(\.proposal).filter(\.isDeparture).map(\.proposer)
        return Set(leavers).filter { $0 != tip.account && !tip.admins.contains($0) }.sorted()
    }

    /// Returns whether one of the group's keys opens an event.
    func opens(_ event: Event) -> Bool { self.outerKeyRing.opens(event, with: self.outerKeyRing.marks) }

    /// Removes the outer layer of an event; nil if no key opens it.
    ///
    /// Throws ``MarmotError`` for an event or message that is malformed, so that retrying is useless.
    func open(_ event: Event) throws(MarmotError) -> GroupMessage? {
        try ComponentGroup.open(event, with: self.tip) { self.convergence.readableStates.dropFirst().map(\.group) }
    }

    /// Whether an application message is this account's, and a copy of this state sent it.
    func isOfCopy(_ message: GroupMessage) -> Bool { self.convergence.isOfCopy(ConvergenceInput(message)) }

    // MARK: Messages and time

    /// Receives an opened message. The echo of a commit by this account confirms the commit: ``popWelcomes()`` then
    /// returns its invitations.
    mutating func receive(_ message: GroupMessage, now: Int64) -> [Effect] {
        self.following { $0.receive(ConvergenceInput(message), now: now) }
    }

    /// Resumes a restored group with the clock of this process.
    mutating func resume(now: Int64) { self.convergence.resume(now: now) }

    /// Ends a pass, or an admin's turn, after its deadline.
    mutating func advance(now: Int64) -> [Effect] {
        self.following { $0.advance(now: now) }
    }

    /// States whether a change that needs an admin waits to be committed. After each pass it has a turn.
    mutating func setAdminChange(isWaiting: Bool, now: Int64) {
        self.convergence.setAdminChange(isWaiting: isWaiting, now: now)
    }

    /// Applies an operation, and follows its effects.
    private mutating func following(
        _ operation: (inout GroupConvergence<ComponentBranch>) -> [Effect]
    ) -> [Effect] {
        let effects = operation(&self.convergence)
        if !self.ownCommits.isEmpty {
            let convergence = self.convergence
            self.ownCommits.removeAll { !convergence.isInReach(ownCommit: $0.digest) }
        }
        self.refresh()
        return effects
    }

    /// Deletes all secrets, other states and inputs, once this account is out of the group; false if it may still return.
    mutating func retire() -> Bool {
        guard self.convergence.retire() else { return false }
        self.ownCommits = []
        self.refresh()
        return true
    }

    private mutating func refresh() {
        let shown = Self.shown(of: self.convergence)
        guard shown != self.shown else { return }
        if shown.tip != self.shown.tip { self.data = GroupData(self.tip.state) }
        let states = self.convergence.readableStates.map(\.group)
        self.outerKeyRing = ComponentGroup.outerKeyRing(over: states)
        self.otherNostrGroupIDs = Self.otherIDs(of: states)
        self.otherRelays = Self.otherRelays(of: states)
        self.shown = shown
    }

    /// Returns the invitations of own commits that became part of the selected history, once: call it after every change of
    /// the history, and send them in the same turn.
    mutating func popWelcomes() -> [DueWelcome] {
        let convergence = self.convergence
        let due = self.ownCommits.filter { convergence.isSelected($0.digest) }
        if !due.isEmpty { self.ownCommits.removeAll { convergence.isSelected($0.digest) } }
        return due.flatMap(\.welcomes)
    }

    // MARK: Storage

    /// Returns the changes since the last call; a message in the steady state changes a few small rows.
    mutating func drainChanges() -> ConvergingGroupChanges {
        // By its storage, because access through the property would include `rows`.
        let changes = self.rows.drainChanges(of: &self.sharedConvergence.value)
        var rows: [StoredConvergingKey.Part: Secret?] = [:]
        for (part, content) in changes.parts { rows[.convergence(part)] = .some(content) }
        let current = Set(self.ownCommits.map(\.digest))
        for digest in self.storedOwnCommits.subtracting(current) { rows[.ownCommit(digest)] = .some(nil) }
        for commit in self.ownCommits where !self.storedOwnCommits.contains(commit.digest) {
            rows[.ownCommit(commit.digest)] = .some(commit.stored)
        }
        self.storedOwnCommits = current
        return ConvergingGroupChanges(header: changes.header, mls: changes.mls, rows: rows)
    }

    /// The keys of all rows that are stored.
    var storedKeys: [[UInt8]] {
        var parts: [StoredConvergingKey.Part] = self.rows.hasTip ? [.tip] : []
        parts += self.rows.parts.map(StoredConvergingKey.Part.convergence)
        parts += self.storedOwnCommits.map(StoredConvergingKey.Part.ownCommit)
        let groupID = self.groupID
        return parts.map { StoredConvergingKey(groupID, $0).bytes }
    }
}

/// This account's own operations.
extension ConvergingGroup {
    /// Encrypts an inner event of this account. Store the group before the event leaves.
    ///
    /// - Returns: the event, and the point of the message, by which it may be withdrawn.
    mutating func seal(
        _ rumor: UnsignedEvent, using random: inout CoreRandom
    ) throws -> (sealed: SealedMessage, point: BranchPoint) {
        try self.requireActive()
        let sealed = try self.convergence.updateTip { tip throws in
            try tip.withGroup { group throws in try group.seal(rumor, using: &random) }
        }
        return (sealed, self.convergence.recordOwnMessage(sealed.digest, by: self.account))
    }

    /// Makes a commit and keeps it pending: publish the event, then ``confirmOwnCommit(now:)`` or
    /// ``abandonOwnCommit(now:)``. Throws if the commit may not be made now (`convergence.mayCommit`), or changes nothing.
    ///
    /// - Parameters:
    ///   - time: the time of day, of the event and the invitations.
    ///   - now: the monotonic clock.
    mutating func stage(
        _ change: ComponentChange, limits: SizeLimits, at time: UnixTime, now: Int64, using random: inout CoreRandom,
        work: any WorkExecutor = SerialWork()
    ) throws -> Event {
        try self.requireActive()
        guard self.convergence.mayCommit else {
            throw MarmotError(.unsettled, "a commit must wait until the branch of the group is settled")
        }
        if case .add = change { try self.requireRoomForInvitations() }
        var parent = self.convergence.tip
        if case .commitDepartures = change {
            parent = parent.admittingDepartures(among: self.convergence.openProposalMessages)
        }
        let staged = try parent.group.staging(change, limits: limits, now: time, using: &random, work: work)
        let message = try GroupMessage(staged.message, of: self.groupID)
        try self.convergence.stage(ConvergenceInput(message), ComponentBranch.step(of: staged, from: parent))
        self.ownCommits.append(
            PendingOwnCommit(
                event: staged.event, digest: message.digest, epoch: message.epoch, welcomes: staged.welcomes))
        self.refresh()
        return staged.event
    }

    /// Applies the pending commit, because a relay has it; returns the invitations to send with the effects. A commit that
    /// ends the group is decided by a pass first.
    mutating func confirmOwnCommit(now: Int64) -> (effects: [Effect], welcomes: [DueWelcome]) {
        let effects = self.following { $0.confirmOwnCommit(now: now) }
        return (effects, self.popWelcomes())
    }

    /// Abandons the pending commit. If a relay has it after all, it takes part in a pass when it comes back,
    /// and its invitations become due if it wins.
    mutating func abandonOwnCommit(now: Int64) {
        _ = self.following {
            $0.abandonOwnCommit(now: now)
            return []
        }
    }

    /// Proposes this account's departure; publish the event. Throws while a branch is undecided
    /// (`convergence.mayLeaveNow`), and for an admin, which must give up its role first.
    mutating func leave(at time: UnixTime, using random: inout CoreRandom) throws -> OwnDeparture {
        try self.requireActive()
        guard self.convergence.mayLeaveNow else {
            throw MarmotError(.unsettled, "a departure must wait until no losing commit is within reach")
        }
        let departure = try self.convergence.updateTip { tip throws in
            try tip.withGroup { group throws in try group.leave(now: time, using: &random) }
        }
        self.convergence.recordOwnProposal(departure.digest)
        return departure
    }

    /// Throws if the invitations of own commits that may still come back are many.
    private func requireRoomForInvitations() throws(MarmotError) {
        let bytes = self.ownCommits.flatMap(\.welcomes).reduce(0) { $0 + $1.rumor.content.utf8.count }
        guard bytes < Self.maximumInvitationBytes else {
            throw MarmotError(
                .tooManyCommits,
                "invitations of \(bytes) bytes belong to earlier commits, which no relay accepted and which may still come "
                    + "back; invite again after another member has committed, or check the group's relays")
        }
    }

    private func requireActive() throws(MarmotError) {
        guard self.isActive else {
            throw MarmotError(.inactive, "this account is no longer in the group, or the group accepts nothing more")
        }
    }
}
