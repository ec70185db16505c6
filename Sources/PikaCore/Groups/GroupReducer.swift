import MLS
import Marmot
import Nostr

/// The creation of groups.
extension CoreModel {
    /// Creates a group with these invitees in their generation, and invites them; nil if the account's signer has yet to
    /// prove this device's key. Nothing is created if the Welcomes do not fit into events.
    mutating func found(
        _ name: String, _ invitees: ChosenInvitees, isDirect: Bool, _ step: inout CoreStep
    ) throws -> GroupID? {
        let own = self.account.publicKey
        let admins = isDirect ? [own] + invitees.identities : [own]
        guard let nostrGroupID = Bytes32(Secret.random(count: 32, using: &step.random).copyBytes()) else {
            preconditionFailure("a Bytes32 must be made of 32 bytes")
        }
        let group: AccountGroup
        let welcomes: [DueWelcome]
        switch invitees {
        case .first(let invitees):
            let data = GroupData(
                nostrGroupID: nostrGroupID, name: name, description: "", admins: admins,
                relays: self.configuration.relays)
            let founded = try MarmotGroup.create(
                data, founder: own, inviting: invitees, client: self.configuration.client, limits: self.sizeLimits,
                now: step.now, using: &step.random, work: step.work)
            group = .first(founded.group)
            welcomes = founded.welcomes
        case .second(let invitees):
            guard let device = try self.provenDevice(&step) else { return nil }
            let plan = try self.plan(name, admins, nostrGroupID, inviting: invitees)
            let founded = try ComponentGroup.found(
                plan, by: device, inviting: invitees, limits: self.sizeLimits, now: step.now, using: &step.random,
                work: step.work)
            group = .second(ConvergingGroup(founded.group))
            welcomes = founded.welcomes
        }
        self.groups.insert(group)
        self.catchUp.noteEntry(of: group.groupID, &step)
        self.index(group, &step)
        self.noteRenewal(of: group.groupID, &step)
        self.refreshChat(group.groupID)
        self.queueProfileRequests(of: group.members, &step)
        self.resubscribe(&step)
        try self.send(welcomes, of: group, &step)
        return group.groupID
    }

    /// Returns the key of this device; nil if the account's signer may still prove it. Throws if it did not.
    private mutating func provenDevice(_ step: inout CoreStep) throws -> DeviceKey? {
        if let key = self.keyPackages.device.key { return key }
        if let reason = self.keyPackages.device.refusal {
            throw AppCoreError(
                .signerRefused,
                "groups of the second generation need a proof of this device's key (kind 450), which the account's "
                    + "signer did not sign: \(reason)")
        }
        self.proveDevice(&step)
        return self.keyPackages.device.key
    }

    /// Plans a group of the second generation with White Noise's requirements for members, if all invitees support them
    /// and this account has servers for files; else with the minimum.
    private func plan(
        _ name: String, _ admins: [PublicKey], _ nostrGroupID: Bytes32, inviting invitees: [ComponentInvitee]
    ) throws(AppCoreError) -> GroupPlan {
        guard !self.configuration.relays.isEmpty else {
            throw AppCoreError(.noRelay, "a group of the second generation needs at least one relay")
        }
        let isSupported = invitees.allSatisfy {
            (try? GroupRequirement.whiteNoise.requireSupport(by: $0.support, of: $0.identity)) != nil
        }
        let servers = self.configuration.mediaServers.prefix(EncryptedMediaPolicy.maximumEntries).map(\.description)
        // MDK's groups require departures even without other features.
        let supportsDepartures = invitees.allSatisfy { $0.support.proposals.contains(GroupRequirement.selfRemove) }
        var features = GroupPlan.Features.bare
        if isSupported, let media = try? EncryptedMediaPolicy(blossomServers: servers) { features = .whiteNoise(media) }
        do throws(MarmotError) {
            return GroupPlan(
                profile: try GroupProfileState(name: name), admins: try AdminPolicy(admins),
                routing: try NostrRouting(
                    nostrGroupID: nostrGroupID,
                    relays: self.configuration.relays.prefix(NostrRouting.maximumRelays).map(\.string)),
                features: features, requiresDepartures: supportsDepartures)
        } catch { throw AppCoreError(.notAllowed, error.message) }
    }
}
