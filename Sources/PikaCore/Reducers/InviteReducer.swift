import MLS
import Marmot
import Nostr

/// Gift wraps, invitations and key packages.
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
                try self.join(invite, &step)
            } else {
                _ = try WelcomeEvents.read(opened.rumor)
                self.invites[invite.wrapper] = invite
                self.state.invites.append(.init(wrapper: invite.wrapper, inviter: opened.rumor.pubkey))
                step.changes.append(.putInvite(invite))
            }
        } catch let error as MarmotError {
            step.effects.append(.note(.refused(reason: error.code.description, detail: error.message)))
        } catch {
            step.effects.append(.note(.refused(reason: "bad_gift_wrap", detail: "\(error)")))
        }
    }

    mutating func acceptInvite(_ wrapper: EventID, _ step: inout CoreStep) throws -> String {
        guard let invite = self.invites[wrapper] else {
            throw AppCoreError(.unknownInvite, "no invitation has the id \(wrapper.hex)")
        }
        let groupID = try self.join(invite, &step)
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

    /// Joins the group of an invitation; a group that this account is in already stays as it is.
    @discardableResult
    private mutating func join(_ invite: StoredInvite, _ step: inout CoreStep) throws -> [UInt8] {
        let invitation = try WelcomeEvents.read(invite.rumor)
        let references = Set(invitation.welcome.secrets.map(\.newMember))
        guard let package = self.keyPackages.first(where: { references.contains($0.reference) }) else {
            throw MarmotError(.notForUs, "the Welcome is for none of this account's key packages")
        }
        let group = try MarmotGroup.join(
            invitation, with: KeyPackageBundle(stored: package.bundle), account: self.account.publicKey)
        if let known = self.groups[group.groupID], known.isActive { return group.groupID }
        if let holder = self.groupIDs[group.data.nostrGroupID], holder != group.groupID,
            self.groups[holder]?.isActive == true
        {
            throw MarmotError(.badGroupData, "another group of this account has the same nostr_group_id")
        }
        self.groups[group.groupID] = group
        self.index(group)
        self.dirtyGroups.insert(group.groupID)
        self.refreshChatList()
        self.resubscribe(&step)
        self.deliver(
            .joined(
                JoinEvent(
                    inviter: invitation.inviter, name: group.data.name, epoch: group.epoch,
                    memberCount: group.members.count)), of: group.groupID, &step)
        step.effects.append(
            .fetch(
                .backlog(groupID: group.groupID),
                [Filter(kinds: [.groupEvent], tags: ["h": [group.data.nostrGroupIDHex]])],
                from: group.data.relays.isEmpty ? self.configuration.relays : group.data.relays))
        return group.groupID
    }

    // MARK: Key packages

    /// Seconds before its expiry at which a key package is no longer published.
    private static let rotationMargin: Int64 = 14 * 86_400

    /// Announces a key package: the stored one while it is good for a while, otherwise a fresh one.
    mutating func publishKeyPackage(_ step: inout CoreStep) throws {
        let current = self.keyPackages.last { $0.notAfter - step.now > Self.rotationMargin }
        let package = try current ?? self.makeKeyPackage(&step)
        let bundle = try KeyPackageBundle(stored: package.bundle)
        let events = KeyPackageEvents.events(
            for: bundle.keyPackage, slot: package.slot, relays: self.configuration.relays,
            client: self.configuration.client, by: self.account, now: step.now, using: &step.random)
        for event in [events.addressable, events.legacy] {
            self.enqueue(
                id: "key_package/\(event.id.hex)", event, to: self.configuration.relays, .keyPackage, &step)
        }
    }

    private mutating func makeKeyPackage(_ step: inout CoreStep) throws -> StoredKeyPackage {
        let bundle = try KeyPackageEvents.makeBundle(for: self.account.publicKey, now: step.now, using: &step.random)
        guard case .keyPackage(let lifetime) = bundle.keyPackage.leafNode.source else {
            preconditionFailure("a key package that was just made has a lifetime")
        }
        let slot = self.keyPackages.last?.slot ?? Hex.encode(Secret.random(count: 32, using: &step.random).copyBytes())
        let stored = StoredKeyPackage(
            reference: bundle.keyPackage.reference, bundle: bundle.stored, slot: slot, createdAt: step.now,
            notAfter: Int64(clamping: lifetime.notAfter))
        self.keyPackages.append(stored)
        step.changes.append(.putKeyPackage(stored))
        return stored
    }
}
