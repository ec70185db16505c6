import Errors
import MLS
import Marmot
import Nostr

/// Gift wraps and invitations.
extension CoreModel {
    mutating func receiveGiftWrap(_ event: Event, _ step: inout CoreStep) {
        if case .remote(let key) = self.account {
            // Not worth a request to the signer.
            guard event.tags(named: "p").contains(where: { $0.value == key.hex }) else {
                return step.refuse(.notForUs, "a gift wrap for another account", event.id)
            }
            // Recorded as seen once the signer has opened it; stored until then.
            guard self.makeRoomForUnopened(event, &step) else { return }
        } else {
            // Counts as refused until its invitation is used, since anyone can send gift wraps.
            self.rememberRefused(event.id, &step)
        }
        self.performKeyTask(.open(event), &step)
    }

    /// Makes room for a gift wrap that the signer has not been asked about, by dropping ones that it refused before.
    /// Returns false if that does not suffice: the event is left on the relays.
    private mutating func makeRoomForUnopened(_ event: Event, _ step: inout CoreStep) -> Bool {
        while true {
            switch self.signer.room(for: event) {
            case .free: return true
            case .after(let refused):
                step.effects.append(.note(.droppedWaiting))
                self.end(refused, &step)
            case .none:
                step.effects.append(.note(.droppedWaiting))
                return false
            }
        }
    }

    /// Handles the rumor of an opened gift wrap.
    mutating func receiveRumor(_ rumor: UnsignedEvent, in wrapper: EventID, _ step: inout CoreStep) throws {
        guard rumor.kind == .welcome else {
            return step.refuse(.noWelcome, "a gift wrap without a Welcome: kind \(rumor.kind.rawValue)", wrapper)
        }
        guard self.admitsInvitation(from: rumor.pubkey, &step) else { return }
        let invite = StoredInvite(wrapper: wrapper, rumor: rumor)
        // The same invitation in another wrapper is ignored.
        guard !self.invitations.contains(rumor) else { return }
        let opening = try self.open(invite)
        if self.configuration.invites.admits(rumor.pubkey) {
            let joining = try self.join(opening, &step)
            self.remember(wrapper, &step)
            guard case .rival(let groupID) = joining,
                self.convergence.branches.hasRival(of: groupID, invitedBy: invite.wrapper)
            else { return }
            self.keep(invite, opening.group, &step)
        } else if !self.isKnown(opening) {
            self.keep(invite, opening.group, &step)
        }
    }

    /// Returns whether an invitation is within the limits and worth the work of opening it: anyone can send them.
    private mutating func admitsInvitation(from inviter: PublicKey, _ step: inout CoreStep) -> Bool {
        let limits = self.configuration.inviteLimits
        // The inviter's own limit first, so that a single inviter cannot exhaust the allowance of all strangers.
        guard self.invitations.admit(inviter, limits.perInviter, &step) else { return false }
        guard let limit = limits.strangers, !self.isKnown(inviter) else { return true }
        return self.invitations.admitStranger(limit, &step)
    }

    private func isKnown(_ inviter: PublicKey) -> Bool {
        if case .only(let keys) = self.configuration.invites, keys.contains(inviter) { return true }
        return self.groups.values.contains { $0.isActive && $0.members.contains(inviter) }
    }

    /// Records that a gift wrap could not be opened, or that its content is invalid.
    func noteUnopened(_ error: any Error, in wrapper: EventID, _ step: inout CoreStep) {
        if let error = error as? MarmotError {
            step.refuse(code: error.code.description, error.message, wrapper)
        } else {
            step.refuse(.badGiftWrap, "\(error)", wrapper)
        }
    }

    private mutating func keep(_ invite: StoredInvite, _ group: MarmotGroup, _ step: inout CoreStep) {
        let preview = AppState.InvitedGroup(
            name: group.data.name, description: group.data.description, memberCount: group.members.count,
            chatID: ChatID(group.groupID), nostrGroupID: group.data.nostrGroupIDHex)
        self.invitations.add(invite, preview, &step)
        self.state.invites.append(.init(invite, group: preview))
        self.queueProfileRequests(of: [invite.rumor.pubkey], &step)
        while let dropped = self.invitations.surplus(self.state.invites.map(\.wrapper)) {
            self.forget(dropped, &step)
            step.refuse(
                .tooManyInvites, "the oldest invitation of the inviter with the most invitations was dropped",
                dropped.wrapper)
        }
    }

    /// Rejoins a group after a removal if another invitation is waiting: gift wraps may arrive before the removal.
    mutating func rejoin(_ groupID: GroupID, _ step: inout CoreStep) {
        for entry in self.state.invites where self.configuration.invites.admits(entry.inviter) {
            guard let invite = self.invitations[entry.wrapper],
                let opening = try? self.open(invite), opening.group.groupID == groupID,
                case .joined? = try? self.join(opening, &step)
            else { continue }
            self.forget(invite, &step)
            return
        }
    }

    mutating func acceptInvite(_ wrapper: EventID, _ step: inout CoreStep) throws -> ChatID {
        guard let invite = self.invitations[wrapper] else {
            throw AppCoreError(.unknownInvite, "no invitation has the id \(wrapper.hex)")
        }
        let groupID: GroupID
        switch try self.join(try self.open(invite), &step) {
        case .joined(let id), .known(let id): groupID = id
        case .rival(let id):
            self.adopt(wrapper, &step)
            groupID = id
        }
        self.forget(invite, &step)
        self.remember(wrapper, &step)
        return ChatID(groupID)
    }

    mutating func declineInvite(_ wrapper: EventID, _ step: inout CoreStep) throws {
        guard let invite = self.invitations[wrapper] else {
            throw AppCoreError(.unknownInvite, "no invitation has the id \(wrapper.hex)")
        }
        self.forget(invite, &step)
        self.remember(wrapper, &step)
    }

    mutating func forget(_ invite: StoredInvite, _ step: inout CoreStep) {
        self.invitations.remove(invite.wrapper, &step)
        self.state.invites.removeAll { $0.wrapper == invite.wrapper }
    }

    /// Joins by an invitation that was pending across a restart.
    mutating func resumeInvite(_ invite: StoredInvite, _ step: inout CoreStep) {
        if let opening = try? self.open(invite), case .rival? = try? self.join(opening, &step) { return }
        self.forget(invite, &step)
    }

    private enum Joining {
        case joined(GroupID)
        /// This account is already in the group.
        case known(GroupID)
        /// This account is in the group, but the invitation is to another state of it: see ``Rival``.
        case rival(GroupID)
    }

    /// An opened Welcome, and the group as it would be joined.
    private struct Opening {
        let wrapper: EventID
        let invitation: WelcomeEvents.Invitation
        let group: MarmotGroup
    }

    /// Opens a Welcome without joining; throws if it is not for this account, or not from an admin of its group.
    private func open(_ invite: StoredInvite) throws -> Opening {
        let subject = CrashSubject.event(invite.wrapper)
        guard !self.crashes.holds(subject) || self.crashes.isWorking(on: subject) else {
            throw AppCoreError(.unknownInvite, "the invitation is quarantined, because it crashed the process")
        }
        let outer = self.crashes.enter(subject, of: .giftWraps, .ingest)
        defer { self.crashes.leave(outer) }
        let invitation = try WelcomeEvents.read(invite.rumor)
        guard let package = self.keyPackages.package(for: invitation) else {
            throw MarmotError(.notForUs, "the Welcome contains no secrets for this account's key packages")
        }
        let group = try MarmotGroup.join(
            invitation, with: KeyPackageBundle(stored: package.bundle), account: self.account.publicKey)
        return Opening(wrapper: invite.wrapper, invitation: invitation, group: group)
    }

    /// Whether an invitation leads to the state that this account is already in.
    private func isKnown(_ opening: Opening) -> Bool {
        guard let known = self.groups[opening.group.groupID], known.isActive else { return false }
        return !self.isRival(opening.group, of: known, opening.invitation)
    }

    /// Joins the group of an invitation; a group that this account is already in stays unchanged.
    private mutating func join(_ opening: Opening, _ step: inout CoreStep) throws -> Joining {
        let group = opening.group
        guard !self.crashes.holds(.group(group.groupID)) else {
            throw MarmotError(.notForUs, "the group is quarantined, because it crashed the process")
        }
        if self.groups[group.groupID]?.isActive == true {
            guard !self.isKnown(opening) else { return .known(group.groupID) }
            self.await(Rival(invite: (opening.wrapper, opening.invitation), group: group), &step)
            return .rival(group.groupID)
        }
        // A nostr_group_id that others claim too is not refused: anyone could block an invitation that way. An MLS
        // group id equal to another group's nostr_group_id is refused: a reference to that group would lead here.
        if let id = Bytes32(group.groupID.bytes),
            self.groups.routes.groups(claiming: id).contains(where: { $0 != group.groupID })
        {
            throw MarmotError(.badGroupData, "the MLS group id is the nostr_group_id of another group")
        }
        guard !self.inbound.seen.contains(self.welcomeKey(opening.invitation)) else {
            throw MarmotError(.notForUs, "the invitation was used before")
        }
        self.enter(group, by: opening.invitation, &step)
        return .joined(group.groupID)
    }
}
