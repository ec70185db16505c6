import MLS
import Marmot
import Nostr

/// Gift wraps and invitations.
extension CoreModel {
    mutating func takeGiftWrap(_ event: Event, _ step: inout CoreStep) {
        self.seen.insert(event.id)
        self.markSeen(event.id, &step)
        do {
            let opened = try GiftWrap.unwrap(event, by: self.account)
            guard opened.rumor.kind == .welcome else {
                step.effects.append(.note(.refused(reason: "unexpected_kind", detail: "a gift wrap without a Welcome")))
                return
            }
            let invite = StoredInvite(wrapper: event.id, rumor: opened.rumor)
            if self.configuration.invites.admits(opened.rumor.pubkey) {
                if case .newer = try self.join(invite, &step) { self.keep(invite, &step) }
            } else {
                _ = try WelcomeEvents.read(opened.rumor)
                self.keep(invite, &step)
            }
        } catch let error as MarmotError {
            step.effects.append(.note(.refused(reason: error.code.description, detail: error.message)))
        } catch {
            step.effects.append(.note(.refused(reason: "bad_gift_wrap", detail: "\(error)")))
        }
    }

    /// Invitations that wait for a decision; the oldest gives way, since anybody can send them.
    static let maximumInvites = 200

    private mutating func keep(_ invite: StoredInvite, _ step: inout CoreStep) {
        self.invites[invite.wrapper] = invite
        self.state.invites.append(.init(wrapper: invite.wrapper, inviter: invite.rumor.pubkey))
        step.changes.append(.putInvite(invite))
        guard self.state.invites.count > Self.maximumInvites, let oldest = self.state.invites.first,
            let dropped = self.invites[oldest.wrapper]
        else { return }
        self.forget(dropped, &step)
        step.effects.append(.note(.refused(reason: "too_many_invites", detail: "the oldest invitation was dropped")))
    }

    /// This account was removed; perhaps it was invited anew already: gift wraps may come before the removal.
    mutating func rejoin(_ groupID: [UInt8], _ step: inout CoreStep) {
        for entry in self.state.invites where self.configuration.invites.admits(entry.inviter) {
            guard let invite = self.invites[entry.wrapper],
                case .joined? = try? self.join(invite, only: groupID, &step)
            else { continue }
            self.forget(invite, &step)
            return
        }
    }

    mutating func acceptInvite(_ wrapper: EventID, _ step: inout CoreStep) throws -> String {
        guard let invite = self.invites[wrapper] else {
            throw AppCoreError(.unknownInvite, "no invitation has the id \(wrapper.hex)")
        }
        let groupID: [UInt8]
        switch try self.join(invite, &step) {
        case .joined(let id), .known(let id), .newer(let id): groupID = id
        case .other: groupID = []
        }
        self.forget(invite, &step)
        return self.groups[groupID]?.data.nostrGroupIDHex ?? ""
    }

    mutating func declineInvite(_ wrapper: EventID, _ step: inout CoreStep) throws {
        guard let invite = self.invites[wrapper] else {
            throw AppCoreError(.unknownInvite, "no invitation has the id \(wrapper.hex)")
        }
        self.forget(invite, &step)
    }

    private mutating func forget(_ invite: StoredInvite, _ step: inout CoreStep) {
        self.invites[invite.wrapper] = nil
        self.state.invites.removeAll { $0.wrapper == invite.wrapper }
        step.changes.append(.deleteInvite(wrapper: invite.wrapper))
    }

    private enum Joining {
        case joined([UInt8])
        /// This account is in the group already.
        case known([UInt8])
        /// So it is, but the invitation is for a later epoch: its removal may be on the way.
        case newer([UInt8])
        /// It is not the group that was asked for.
        case other
    }

    /// Joins the group of an invitation; a group that this account is in already stays as it is.
    private mutating func join(
        _ invite: StoredInvite, only wanted: [UInt8]? = nil, _ step: inout CoreStep
    ) throws -> Joining {
        let invitation = try WelcomeEvents.read(invite.rumor)
        let references = Set(invitation.welcome.secrets.map(\.newMember))
        guard let package = self.keyPackages.first(where: { references.contains($0.reference) }) else {
            throw MarmotError(.notForUs, "the Welcome is for none of this account's key packages")
        }
        let group = try MarmotGroup.join(
            invitation, with: KeyPackageBundle(stored: package.bundle), account: self.account.publicKey)
        if let wanted, wanted != group.groupID { return .other }
        if let known = self.groups[group.groupID], known.isActive {
            return group.epoch > known.epoch ? .newer(group.groupID) : .known(group.groupID)
        }
        if let holder = self.groupIDs[group.data.nostrGroupID], holder != group.groupID,
            self.groups[holder]?.isActive == true
        {
            throw MarmotError(.badGroupData, "another group of this account has the same nostr_group_id")
        }
        // Nothing of an earlier membership follows on this one.
        for part in self.groups[group.groupID]?.parts ?? [] {
            step.changes.append(.deleteGroup(groupID: StoredGroupKey(group.groupID, part).bytes))
        }
        self.groups[group.groupID] = group
        self.index(group)
        self.dirtyGroups.insert(group.groupID)
        self.noteJoin(of: group.groupID, &step)
        self.refreshChatList()
        self.resubscribe(&step)
        self.deliver(
            .joined(
                JoinEvent(
                    inviter: invitation.inviter, name: group.data.name, epoch: group.epoch,
                    memberCount: group.members.count)), of: group.groupID, &step)
        self.readBacklog(of: group.groupID, &step)
        return .joined(group.groupID)
    }
}
