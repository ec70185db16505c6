import MLS
import Marmot
import Nostr

/// The role of a group member. MLS authenticates the members of an epoch; the epoch's group data give their roles
/// (MIP-01).
public enum MemberRole: String, Sendable, Hashable, CaseIterable {
    case member, admin

    init(of member: PublicKey, in data: GroupData) {
        self = data.isAdmin(member) ? .admin : .member
    }
}

extension CoreModel {
    /// Past epochs whose admins are remembered: as many as messages can still be opened for.
    private static let maximumPastEpochs = 5

    /// Returns the role of an authenticated member in an epoch; nil if that epoch's group data are not known any more.
    func role(of member: PublicKey, inEpoch epoch: Epoch, of groupID: GroupID) -> MemberRole? {
        guard let group = self.groups[groupID] else { return nil }
        if epoch != group.epoch, let admins = self.pastAdmins[groupID]?[epoch] {
            return admins.contains(member) ? .admin : .member
        }
        return group.data(inEpoch: epoch).map { MemberRole(of: member, in: $0) }
    }

    /// Records the admins of the epoch that a commit has ended, and drops those of later epochs that it undid.
    mutating func rememberAdmins(before report: CommitReport, of groupID: GroupID) {
        let oldest = report.epochAfter.earlier(by: Self.maximumPastEpochs)
        var past = (self.pastAdmins[groupID] ?? [:]).filter { $0.key >= oldest && $0.key < report.epochBefore }
        past[report.epochBefore] = Set(report.before.admins)
        self.pastAdmins[groupID] = past
    }
}
