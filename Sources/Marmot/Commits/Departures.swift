import MLS
public import Nostr

/// Leaving a group and committing the departure of others (MIP-03, docs/protocol/marmot.md §5.10).
///
/// If the group requires proposal type 0x000a, a member leaves by a SelfRemove, which any member may commit. Otherwise
/// it proposes its own Remove, which only admins may commit.
extension MarmotGroup {
    /// Creates the proposal by which this member leaves; publish the returned event. The member stays in the group
    /// until another member commits the proposal. A proposal is bound to its epoch, so call this again after any other
    /// commit.
    ///
    /// - Throws: `MarmotError.Code.adminStays` for an admin, which must give up that role first;
    ///   `MarmotError.Code.lastMember` if no other member could commit it; `MarmotError.Code.commitPending`.
    public mutating func leave(now: UnixTime, using rng: inout some RandomNumberGenerator) throws -> Event {
        try self.requireActive()
        guard self.members.count > 1 else {
            throw MarmotError(.lastMember, "the only member cannot leave: no other member can commit it")
        }
        guard !self.isAdmin else {
            throw MarmotError(.adminStays, "an admin must give up its role before leaving (self-demote, MIP-03)")
        }
        guard self.pending == nil else {
            throw MarmotError(.commitPending, "a commit for epoch \(self.epoch) is not confirmed yet")
        }
        // Drop this account's earlier departure first, or the store would hold it twice.
        let own = self.mls.ownLeafIndex
        var mls = self.mls
        mls.dropPendingProposals { $0.sender == own && $0.isDeparture }
        let message =
            self.requiresSelfRemove
            ? try mls.propose(.selfRemove, wireFormat: .publicMessage, using: &rng).message
            : try mls.propose(.remove(own), using: &rng).message
        let event = try self.sealOuter(message, at: self.sendingClock.handshakeTime(now: now), using: &rng)
        self.mls = mls
        return event
    }

    /// Whether every member supports SelfRemove because the group requires it (docs/protocol/marmot.md §3.2).
    public var requiresSelfRemove: Bool {
        self.requirements.proposals.contains(self.profile.selfRemoveProposal)
    }

    /// Members who proposed their departure and whose departure this member may commit now.
    public var dueDepartures: [PublicKey] {
        guard self.isActive else { return [] }
        return self.departures.compactMap { try? self.mls.member($0.sender)?.identity() }
    }

    /// Whether this member proposed its departure in this epoch.
    public var isLeaving: Bool {
        self.mls.pendingProposals.contains { $0.sender == self.mls.ownLeafIndex && $0.isDeparture }
    }

    /// Departure proposals that this member may commit, one per leaf.
    var departures: [ReceivedProposal] {
        var leaves: Set<LeafIndex> = [self.mls.ownLeafIndex]
        return self.mls.pendingProposals.filter { proposal in
            Self.isDue(proposal, in: self.mls, self.data, for: self.account) && leaves.insert(proposal.sender).inserted
        }
    }

    /// Builds the commit request that executes all due departures.
    ///
    /// SelfRemoves are committed by reference, since only the leaver can propose one. A Remove is committed as this
    /// admin's own proposal: then no member needs to have received the leaver's, and MDK 0.8 executes no other form
    /// (docs/protocol/marmot.md §11.17).
    func departureRequest() throws(MarmotError) -> CommitRequest {
        let departures = self.departures
        guard !departures.isEmpty else { throw MarmotError(.notFound, "no departure is proposed") }
        var request = CommitRequest()
        request.references = departures.filter { $0.proposal == .selfRemove }.map(\.reference)
        request.removing = departures.filter { $0.proposal != .selfRemove }.map(\.sender)
        let leavers = request.removing.compactMap { try? self.mls.member($0)?.identity() }
        request.extensions = self.extensions(withoutAdmins: leavers)
        return request
    }

    /// Returns whether a proposal is a departure that `account` may commit. A SelfRemove by an admin is ignored by all
    /// members; a Remove of oneself, which old clients let admins send too, may only be committed by admins.
    static func isDue(
        _ proposal: ReceivedProposal, in mls: MLSGroup, _ data: GroupData, for account: PublicKey
    ) -> Bool {
        guard proposal.isDeparture, proposal.sender != mls.ownLeafIndex,
            let leaver = try? mls.member(proposal.sender)?.identity()
        else { return false }
        guard proposal.proposal == .selfRemove else { return data.isAdmin(account) }
        // Peers refuse a commit with a proposal type that a member does not support (RFC 9420 §12.2).
        return !data.isAdmin(leaver)
            && mls.members.allSatisfy { index, leaf in
                index == proposal.sender || leaf.capabilities.proposals.contains(proposal.proposal.type)
            }
    }

    /// Returns those of `removed` who had proposed their departure in this epoch.
    func departed(among removed: Set<PublicKey>) -> [PublicKey] {
        guard !removed.isEmpty else { return [] }
        let asked = self.mls.pendingProposals.filter(\.isDeparture)
            .compactMap { try? self.mls.member($0.sender)?.identity() }
        return removed.intersection(asked).sorted()
    }
}

extension ReceivedProposal {
    /// Whether the sender proposes its own departure, as a SelfRemove or a Remove.
    var isDeparture: Bool { self.proposal == .selfRemove || self.proposal == .remove(self.sender) }
}
