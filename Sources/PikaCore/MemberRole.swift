import MLS
import Marmot
import Nostr

/// The role of a group member. MLS authenticates the members of an epoch; the epoch's group data give their roles
/// (MIP-01).
public enum MemberRole: String, Sendable, Hashable, CaseIterable {
    /// A member, or a member whom the group data list as an admin.
    case member, admin

    init(of member: PublicKey, in data: GroupData) {
        self = data.isAdmin(member) ? .admin : .member
    }
}

extension CoreModel {
    /// Returns the role of an authenticated member in an epoch; nil if that epoch's group data are no longer known.
    func role(of member: PublicKey, inEpoch epoch: Epoch, of groupID: GroupID) -> MemberRole? {
        guard let group = self.groups[groupID] else { return nil }
        if epoch != group.epoch, let wasAdmin = self.convergence.branches.wasAdmin(member, inEpoch: epoch, of: groupID)
        {
            return wasAdmin ? .admin : .member
        }
        return group.wasAdmin(member, in: epoch).map { $0 ? .admin : .member }
    }
}
