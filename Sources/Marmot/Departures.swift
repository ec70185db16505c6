import MLS
public import Nostr

/// Leaving a group, and executing the departure of others (MIP-03, wire §5.5).
///
/// Where the group requires proposal type 0x000a, a member leaves by a SelfRemove that anybody commits; elsewhere by a
/// Remove of itself that only admins commit.
extension MarmotGroup {
    /// Makes the proposal by which this member leaves: publish its event. The member stays in the group until somebody
    /// commits it; the proposal is bound to its epoch, so after every other commit it has to be made again.
    ///
    /// - Throws: ``MarmotError/Code/adminStays`` for an admin, who has to give up that role first;
    ///   ``MarmotError/Code/lastMember`` if nobody is left to commit it; ``MarmotError/Code/commitPending``.
    public mutating func leave(now: Int64, using rng: inout some RandomNumberGenerator) throws -> Event {
        try self.requireActive()
        guard self.members.count > 1 else {
            throw MarmotError(.lastMember, "the only member has nobody who could commit its departure")
        }
        guard !self.isAdmin else {
            throw MarmotError(.adminStays, "an admin cannot leave; it gives up that role first (self-demote, MIP-03)")
        }
        guard self.pending == nil else {
            throw MarmotError(.commitPending, "a commit for epoch \(self.epoch) is not confirmed yet")
        }
        // The same departure proposed twice would stand in the store twice.
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

    /// Whether every member supports SelfRemove because the group requires it (wire §3.2).
    public var requiresSelfRemove: Bool {
        self.requirements.proposals.contains(self.profile.selfRemoveProposal)
    }

    /// Members who asked to leave and whose departure this member may commit now.
    public var dueDepartures: [PublicKey] {
        guard self.isActive else { return [] }
        return self.departures.compactMap { try? self.mls.member($0.sender)?.identity() }
    }

    /// Whether this member asked to leave in this epoch.
    public var isLeaving: Bool {
        self.mls.pendingProposals.contains { $0.sender == self.mls.ownLeafIndex && $0.isDeparture }
    }

    /// One proposal for each leaf that leaves and that this member may remove.
    var departures: [ReceivedProposal] {
        var leaves: Set<LeafIndex> = [self.mls.ownLeafIndex]
        return self.mls.pendingProposals.filter { proposal in
            Self.isDue(proposal, in: self.mls, self.data, for: self.account) && leaves.insert(proposal.sender).inserted
        }
    }

    /// What this member commits so that all due departures happen.
    ///
    /// SelfRemoves go by reference, since only the leaver can propose one. A Remove goes as this admin's own: it needs
    /// no member to have seen the leaver's, and MDK 0.8 executes no other (wire §10, trap 17).
    func departureRequest() throws(MarmotError) -> CommitRequest {
        let departures = self.departures
        guard !departures.isEmpty else { throw MarmotError(.notFound, "nobody asked to leave") }
        var request = CommitRequest()
        request.references = departures.filter { $0.proposal == .selfRemove }.map(\.reference)
        request.removing = departures.filter { $0.proposal != .selfRemove }.map(\.sender)
        let leavers = request.removing.compactMap { try? self.mls.member($0)?.identity() }
        request.extensions = self.extensions(withoutAdmins: leavers)
        return request
    }

    /// Whether a proposal is a departure that `account` may commit. A SelfRemove of an admin is ignored by everybody; a
    /// Remove of itself, which old clients let admins send too, is for admins.
    static func isDue(
        _ proposal: ReceivedProposal, in mls: MLSGroup, _ data: GroupData, for account: PublicKey
    ) -> Bool {
        guard proposal.isDeparture, proposal.sender != mls.ownLeafIndex,
            let leaver = try? mls.member(proposal.sender)?.identity()
        else { return false }
        guard proposal.proposal == .selfRemove else { return data.isAdmin(account) }
        // A commit of a type that some member does not support would be refused (RFC 9420 §12.2).
        return !data.isAdmin(leaver)
            && mls.members.allSatisfy { index, leaf in
                index == proposal.sender || leaf.capabilities.proposals.contains(proposal.proposal.type)
            }
    }

    /// Those of `removed` who had asked for it in this epoch.
    func leavers(among removed: Set<PublicKey>) -> [PublicKey] {
        guard !removed.isEmpty else { return [] }
        let asked = self.mls.pendingProposals.filter(\.isDeparture)
            .compactMap { try? self.mls.member($0.sender)?.identity() }
        return removed.intersection(asked).sorted()
    }
}

extension ReceivedProposal {
    /// Whether its sender asks to leave, in either form.
    var isDeparture: Bool { self.proposal == .selfRemove || self.proposal == .remove(self.sender) }
}
