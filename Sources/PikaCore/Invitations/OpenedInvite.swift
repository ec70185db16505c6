import MLS
import Marmot
import Nostr

/// An opened Welcome, and the group as it would be joined.
struct OpenedInvite {
    enum Destination {
        case first(MarmotGroup, WelcomeEvents.Invitation)
        /// With the account that invited this one, as the Welcome proves; another one may have sent the invitation.
        case second(ConvergingGroup, WelcomeInvitation, inviter: PublicKey)
    }

    let wrapper: EventID
    let destination: Destination

    var group: AccountGroup {
        switch self.destination {
        case .first(let group, _): .first(group)
        case .second(let group, _, _): .second(group)
        }
    }

    var entry: GroupEntry {
        switch self.destination {
        case .first(_, let invitation): GroupEntry(invitation)
        case .second(_, let invitation, let inviter): GroupEntry(invitation, inviter: inviter)
        }
    }
}

extension CoreModel {
    /// Opens a Welcome without joining; throws if it is not for this account, or not from an admin of its group.
    func open(_ invite: StoredInvite, _ work: any WorkExecutor) throws -> OpenedInvite {
        let subject = CrashSubject.event(invite.wrapper)
        guard !self.crashes.holds(subject) || self.crashes.isWorking(on: subject) else {
            throw AppCoreError(.unknownInvite, "the invitation is quarantined, because it crashed the process")
        }
        let outer = self.crashes.enter(subject, of: .giftWraps, .ingest)
        defer { self.crashes.leave(outer) }
        let (received, package) = try ReceivedWelcome.read(invite.rumor, among: self.keyPackages)
        let bundle = try KeyPackageBundle(stored: package.bundle)
        switch received {
        case .first(let invitation):
            let group = try MarmotGroup.join(
                invitation, with: bundle, account: self.account.publicKey, work: work)
            return OpenedInvite(wrapper: invite.wrapper, destination: .first(group, invitation))
        case .second(let invitation):
            do throws(JoinFailure) {
                let joined = try ComponentGroup.join(
                    invitation, with: bundle, account: self.account.publicKey, known: self.closedGroups,
                    work: work)
                return OpenedInvite(
                    wrapper: invite.wrapper,
                    destination: .second(ConvergingGroup(joined.group), invitation, inviter: joined.inviter))
            } catch { throw MarmotError(error.error.code, error.description) }
        }
    }

    /// Whether an invitation leads to the state that this account is already in, or in the second generation to any
    /// state that it knows or has left behind.
    func isKnown(_ opening: OpenedInvite) -> Bool {
        switch opening.destination {
        case .first(let group, let invitation):
            guard let known = self.groups[first: group.groupID], known.isActive else { return false }
            return !self.isRival(group, of: known, invitation)
        case .second(let group, let invitation, let inviter):
            guard let known = self.groups[second: group.groupID], known.isActive else { return false }
            // Only an admin can invite a member again, and an invitation can be used once.
            let oldest = known.tip.epoch.earlier(by: ConvergencePolicy.standard.maximumRewind)
            return group.tip.epoch < oldest || !known.tip.admins.contains(inviter)
                || self.inbound.seen.contains(self.welcomeKey(invitation.welcome)) || self.hasBeenIn(group)
        }
    }

    /// Whether this account knows the state of an invitation: entered again, it would use the keys of messages twice.
    func hasBeenIn(_ group: ConvergingGroup) -> Bool {
        let states = self.groups[second: group.groupID]?.convergence.readableStates ?? []
        return states.contains { $0.group.mls.epochAuthenticator == group.tip.mls.epochAuthenticator }
            || self.inbound.seen.contains(Self.stateKey(group.tip))
    }
}
