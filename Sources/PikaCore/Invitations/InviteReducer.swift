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
        let opening = try self.open(invite, step.work)
        if self.configuration.invites.admits(opening.entry.inviter) {
            let joining = try self.join(opening, &step)
            self.remember(wrapper, &step)
            switch joining {
            case .joined, .known: return
            case .rival(let groupID):
                guard self.convergence.branches.hasRival(of: groupID, invitedBy: invite.wrapper) else { return }
            case .early(let groupID):
                self.keep(invite, opening, &step)
                self.awaitUse(ofInvitationTo: groupID, &step)
                return self.compareStates(of: groupID, with: [], &step)
            }
            self.keep(invite, opening, &step)
        } else if !self.isKnown(opening) {
            self.keep(invite, opening, &step)
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

    private mutating func keep(_ invite: StoredInvite, _ opening: OpenedInvite, _ step: inout CoreStep) {
        let group = opening.group
        var preview = AppState.InvitedGroup(
            name: group.data.name, description: group.data.description, memberCount: group.members.count,
            chatID: ChatID(group.groupID), nostrGroupID: group.data.nostrGroupIDHex)
        let inviter = opening.entry.inviter
        if inviter != invite.rumor.pubkey { preview.inviter = inviter }
        self.invitations.add(invite, preview, &step)
        self.state.invites.append(.init(invite, group: preview))
        self.queueProfileRequests(of: [inviter], &step)
        while let dropped = self.invitations.surplus(self.state.invites.map(\.wrapper)) {
            self.forget(dropped, &step)
            step.refuse(
                .tooManyInvites, "the oldest invitation of the inviter with the most invitations was dropped",
                dropped.wrapper)
        }
    }

    /// Rejoins a group after a removal, or if it is unrecoverable, when another invitation is waiting: gift wraps may
    /// arrive before the removal.
    mutating func rejoin(_ groupID: GroupID, _ step: inout CoreStep) {
        for entry in self.state.invites where self.configuration.invites.admits(entry.inviter) {
            guard let invite = self.invitations[entry.wrapper],
                let opening = try? self.open(invite, step.work), opening.group.groupID == groupID,
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
        let chatID = try self.acceptedChat(invite, &step)
        self.forget(invite, &step)
        self.remember(wrapper, &step)
        return chatID
    }

    /// Joins by an invitation that was accepted manually; returns the chat, also if this account is in it already.
    private mutating func acceptedChat(_ invite: StoredInvite, _ step: inout CoreStep) throws -> ChatID {
        let opening = try self.open(invite, step.work)
        switch try self.join(opening, &step) {
        case .joined, .known: break
        case .rival: self.adopt(invite.wrapper, &step)
        case .early:
            if case .second(let group, _, _) = opening.destination { self.enter(group, by: opening.entry, &step) }
        }
        return ChatID(opening.group.groupID)
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
        self.settlement.others.forget(invite.wrapper, &step)
        self.state.invites.removeAll { $0.wrapper == invite.wrapper }
    }

    /// Joins by an invitation that was pending across a restart.
    mutating func resumeInvite(_ invite: StoredInvite, _ step: inout CoreStep) {
        if let opening = try? self.open(invite, step.work) {
            switch try? self.join(opening, &step) {
            case .early(let groupID)?: return self.awaitUse(ofInvitationTo: groupID, &step)
            case .rival?: return
            case .joined?, .known?, nil: break
            }
        }
        self.forget(invite, &step)
    }

    private enum Joining {
        case joined(GroupID)
        /// This account is already in the group.
        case known(GroupID)
        /// This account is in the group, but the invitation is to another state of it: see ``Rival``.
        case rival(GroupID)
        /// This account is in the group, but invited to a state of it that it does not know: as after a removal whose
        /// commit is not settled yet, or if the commit that added it lost against another.
        case early(GroupID)
    }

    /// Joins the group of an invitation; a group that this account is already in stays unchanged.
    private mutating func join(_ opening: OpenedInvite, _ step: inout CoreStep) throws -> Joining {
        let group = opening.group
        guard !self.crashes.holds(.group(group.groupID)) else {
            throw MarmotError(.notForUs, "the group is quarantined, because it crashed the process")
        }
        if case .first(let group, let invitation) = opening.destination {
            guard self.groups[second: group.groupID] == nil else {
                throw MarmotError(.hybridProfile, "the Welcome names a group of the other protocol generation")
            }
            if self.groups[first: group.groupID]?.isActive == true {
                guard !self.isKnown(opening) else { return .known(group.groupID) }
                self.await(Rival(invite: (opening.wrapper, invitation), group: group), &step)
                return .rival(group.groupID)
            }
        } else if self.groups[group.groupID]?.isActive == true {
            return self.isKnown(opening) ? .known(group.groupID) : .early(group.groupID)
        }
        // A nostr_group_id that others claim too is not refused: anyone could block an invitation that way. An MLS
        // group id equal to another group's nostr_group_id is refused: a reference to that group would lead here.
        if let id = Bytes32(group.groupID.bytes),
            self.groups.routes.groups(claiming: id).contains(where: { $0 != group.groupID })
        {
            throw MarmotError(.badGroupData, "the MLS group id is the nostr_group_id of another group")
        }
        guard !self.inbound.seen.contains(self.welcomeKey(opening.entry.welcome)) else {
            throw MarmotError(.notForUs, "the invitation was used before")
        }
        switch opening.destination {
        case .first(let group, let invitation): self.enter(group, by: invitation, &step)
        case .second(let group, _, _):
            // After a removal too, and even if the Welcome was forgotten or its GroupInfo was created again.
            guard !self.hasBeenIn(group) else {
                throw MarmotError(.notForUs, "the invitation leads back to a state that this account was in")
            }
            self.enter(group, by: opening.entry, &step)
        }
        return .joined(group.groupID)
    }
}
