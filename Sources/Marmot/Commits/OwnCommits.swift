import MLS
public import Nostr

/// A change to a group that this account commits.
public enum GroupChange: Sendable {
    /// Adds accounts by their key packages.
    case add([Invitee])
    /// Removes accounts, each with all its leaves.
    case remove([PublicKey])
    /// New group data: name, description, admins, relays, image.
    case update(GroupData)
    /// Renews this member's keys, and nothing else.
    case selfUpdate
    /// Commits the departures that this member may commit.
    case commitDepartures
    /// Demotes this member from admin, as required before it leaves.
    case selfDemote
    /// Requires SelfRemove of all members, once all of them support it.
    case upgrade
}

/// A commit of this account that was published, but not confirmed by a relay.
public struct OwnCommit: Sendable {
    /// The kind 445 event.
    public let event: Event
    /// Invitations to send after the commit is merged.
    public let welcomes: [DueWelcome]
    /// The group after the commit.
    let next: MLSGroup
    let data: GroupData
    /// SHA-256 of the MLSMessage.
    let digest: [UInt8]
    /// The epoch that this commit rolls back from; nil if none.
    var rolledBackFrom: Epoch?
}

extension MarmotGroup {
    /// Makes a commit and keeps it pending: publish its event, wait for one relay's OK, then ``mergePending()``
    /// (docs/protocol/marmot.md §4.4); if no relay accepts it, ``clearPending()``.
    ///
    /// - Parameter limits: size limits of the Welcomes and the commit; nothing is committed if one is exceeded.
    @discardableResult
    public mutating func commit(
        _ change: GroupChange, client: String, limits: SizeLimits = .common, now: UnixTime,
        using rng: inout some RandomNumberGenerator
    ) throws -> OwnCommit {
        try self.requireActive()
        guard self.pending == nil else {
            throw MarmotError(.commitPending, "a commit for epoch \(self.epoch) is not confirmed yet")
        }
        var invitees: [Invitee] = []
        if case .add(let added) = change { invitees = added }
        let request = try self.request(for: change, using: &rng)
        return try self.finish(request, invitees, client: client, limits, now: now, using: &rng)
    }

    private func request(
        for change: GroupChange, using rng: inout some RandomNumberGenerator
    ) throws -> CommitRequest {
        var request = CommitRequest()
        switch change {
        case .add(let added):
            try self.requireAdmin("add members")
            try self.requireCompatible(added)
            request.adding = added.map(\.keyPackage)
        case .remove(let keys):
            try self.requireAdmin("remove members")
            request.removing = try self.leaves(of: keys)
            request.extensions = self.extensions(withoutAdmins: keys)
        case .update(let data):
            try self.requireAdmin("change the group")
            try data.validateForWriting()
            request.extensions = self.extensions(with: try self.withMembersAsAdmins(data))
        case .selfUpdate:
            request.signatureKey = try SignaturePrivateKey.generate(self.profile.cipherSuite, using: &rng)
            request.capabilities = self.profile.capabilities(using: &rng)
        case .commitDepartures: request = try self.departureRequest()
        case .selfDemote:
            try self.requireAdmin("demote itself")
            request.extensions = try self.demotedExtensions()
        case .upgrade:
            try self.requireAdmin("change what the group requires")
            request.extensions = try self.upgradedExtensions()
        }
        return request
    }

    private mutating func finish(
        _ request: CommitRequest, _ invitees: [Invitee], client: String, _ limits: SizeLimits, now: UnixTime,
        using rng: inout some RandomNumberGenerator
    ) throws -> OwnCommit {
        // Work on a copy, so that a refusal below changes nothing, not even the message keys.
        var mls = self.mls
        let commit = try mls.commit(request, using: &rng)
        let data = try Self.data(commit.next.extensions, self.profile)
        try GroupAdministration.authorize(
            commit.changes, before: self.data, after: data, members: Self.identities(commit.next))
        // A commit is encrypted under the epoch that it ends.
        let own = OwnCommit(
            event: try self.sealOuter(
                commit.message, at: self.sendingClock.handshakeTime(now: now), using: &rng),
            welcomes: self.dueWelcomes(commit, invitees, client: client, now: now), next: commit.next, data: data,
            digest: SHA256Derivation.digest(commit.message))
        let members = commit.next.members.count
        if let welcome = own.welcomes.first { try limits.requireFit(of: welcome.rumor, members: members) }
        try limits.requireFit(of: own.event, members: members)
        self.mls = mls
        self.setPending(own)
        return own
    }

    /// Merges the pending commit after a relay accepted it; returns its report and the invitations to send now.
    public mutating func mergePending() throws(MarmotError) -> (report: CommitReport, welcomes: [DueWelcome]) {
        guard let pending = self.pending else { throw MarmotError(.notFound, "no commit is pending") }
        let order = CommitOrder(pending.event)
        let report = try self.report(
            committer: self.account, next: pending.next, data: pending.data, order: order, isOwn: true,
            rolledBackFrom: pending.rolledBackFrom)
        self.takeSnapshot(order, digest: pending.digest, next: pending.next, isOwn: true)
        self.setPending(nil)
        // Its invitations are sent now, and not again if the commit loses and wins again.
        self.shelve(
            OwnCommit(
                event: pending.event, welcomes: [], next: pending.next, data: pending.data, digest: pending.digest))
        self.advance(to: self.mls.merging(pending.next), data: pending.data)
        return (report, pending.welcomes)
    }

    /// Abandons the pending commit, because no relay accepted it or another commit won. If a relay has it after all and
    /// it arrives, it is processed like any other commit.
    public mutating func clearPending() {
        guard let pending = self.pending else { return }
        self.setPending(nil)
        self.shelve(pending)
    }

    mutating func setPending(_ pending: OwnCommit?) {
        if let old = self.pending { self.changedParts.insert(.ownCommit(old.event.id)) }
        if let pending { self.changedParts.insert(.ownCommit(pending.event.id)) }
        self.pending = pending
    }

    // MARK: Parts

    private func requireAdmin(_ what: String) throws(MarmotError) {
        guard self.isAdmin else { throw MarmotError(.notAdmin, "only an admin may \(what) (MIP-01)") }
    }

    private func requireCompatible(_ invitees: [Invitee]) throws(MarmotError) {
        var members = Set(self.members)
        for invitee in invitees {
            // V12.2-4: No client is added twice, or again.
            try members.add(invitee: invitee.identity)
            try invitee.requireSupport(of: self.mls.extensions)
        }
    }

    /// Drops admins who have left the group; a new admin must be a member (docs/protocol/marmot.md §3.5).
    private func withMembersAsAdmins(_ data: GroupData) throws(MarmotError) -> GroupData {
        let members = Set(self.members)
        var data = data
        for admin in data.admins where !members.contains(admin) && !self.data.isAdmin(admin) {
            throw MarmotError(.notFound, "admin \(admin.hex.prefix(8)) is not a member (MIP-01)")
        }
        data.admins.removeAll { !members.contains($0) }
        return data
    }

    private func leaves(of keys: [PublicKey]) throws(MarmotError) -> [LeafIndex] {
        guard !keys.contains(self.account) else {
            throw MarmotError(.incompatible, "a member cannot remove itself; leave the group instead")
        }
        let members = self.mls.members
        var leaves: [LeafIndex] = []
        for key in keys {
            let own = members.filter { (try? $0.leaf.identity()) == key }.map(\.index)
            guard !own.isEmpty else { throw MarmotError(.notFound, "\(key.hex.prefix(8)) is not a member") }
            leaves += own
        }
        return leaves
    }

    /// Returns the identities that the leaves state. Callers check whether a key is on the curve.
    static func identities(_ group: MLSGroup) -> Set<PublicKey> {
        Set(group.members.compactMap(\.leaf.statedIdentity))
    }

    /// Reports a commit's changes of members and group data; `next` is nil if it removed this member, and then
    /// `removed` lists the removed members.
    func report(
        committer: PublicKey, next: MLSGroup?, data: GroupData, order: CommitOrder, isOwn: Bool,
        removed: [PublicKey] = [], rolledBackFrom: Epoch? = nil, displacedOwnCommit: Bool = false
    ) throws(MarmotError) -> CommitReport {
        let before = Self.identities(self.mls)
        let after = next.map(Self.identities) ?? before.subtracting(removed)
        return CommitReport(
            committer: committer, isOwn: isOwn, epochBefore: self.epoch,
            epochAfter: next?.epoch ?? self.epoch.later(by: 1),
            added: after.subtracting(before).filter(\.isOnCurve).sorted(),
            removed: before.subtracting(after).filter(\.isOnCurve).sorted(),
            left: self.departed(among: before.subtracting(after)), before: self.data, after: data,
            removedSelf: next == nil, event: order.id, createdAt: order.createdAt, rolledBackFrom: rolledBackFrom,
            displacedOwnCommit: displacedOwnCommit)
    }
}

extension Set<PublicKey> {
    /// Adds an invited account to a group's members; throws `MarmotError.Code.incompatible` if it is one of them.
    mutating func add(invitee: PublicKey) throws(MarmotError) {
        guard self.insert(invitee).inserted else {
            throw MarmotError(.incompatible, "\(invitee.hex.prefix(8)) is already a member, or appears twice")
        }
    }
}
