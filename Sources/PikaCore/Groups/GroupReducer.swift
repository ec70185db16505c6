import MLS
import Marmot
import Nostr

/// The creation of groups.
extension CoreModel {
    mutating func found(
        _ name: String, _ invitees: [Invitee], isDirect: Bool, _ step: inout CoreStep
    ) throws -> GroupID {
        let own = self.account.publicKey
        guard let nostrGroupID = Bytes32(Secret.random(count: 32, using: &step.random).copyBytes()) else {
            preconditionFailure("a Bytes32 must be made of 32 bytes")
        }
        let data = GroupData(
            nostrGroupID: nostrGroupID, name: name, description: "",
            admins: isDirect ? [own] + invitees.map(\.identity) : [own], relays: self.configuration.relays)
        let (group, welcomes) = try MarmotGroup.create(
            data, founder: own, inviting: invitees, client: self.configuration.client, limits: self.sizeLimits,
            now: step.now, using: &step.random)
        self.groups[group.groupID] = group
        self.catchUp.noteEntry(of: group.groupID, &step)
        self.index(group, &step)
        self.groups.markChanged(group.groupID)
        self.noteRenewal(of: group.groupID, &step)
        self.refreshChat(group.groupID)
        self.queueProfileRequests(of: group.members, &step)
        self.resubscribe(&step)
        try self.send(welcomes, of: group, &step)
        return group.groupID
    }
}
