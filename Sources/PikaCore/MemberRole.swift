import MLS
import Marmot
import Nostr

/// What a member of a group may do there. Members of an epoch are proven by MLS; their role is in the epoch's group
/// data (MIP-01).
public enum MemberRole: String, Sendable, Hashable, CaseIterable {
    case member, admin

    init(of member: PublicKey, in data: GroupData) {
        self = data.isAdmin(member) ? .admin : .member
    }
}

extension CoreModel {
    /// Past epochs whose admins are remembered: as many as messages can still be opened of.
    private static let maximumPastEpochs = 5

    /// What a proven member of an epoch was in it; nil if that epoch's group data are not known any more.
    func role(of member: PublicKey, inEpoch epoch: Epoch, of groupID: GroupID) -> MemberRole? {
        guard let group = self.groups[groupID] else { return nil }
        if epoch != group.epoch, let admins = self.pastAdmins[groupID]?[epoch] {
            return admins.contains(member) ? .admin : .member
        }
        return group.data(inEpoch: epoch).map { MemberRole(of: member, in: $0) }
    }

    /// A commit has ended an epoch, or done away with some that came after it.
    mutating func rememberAdmins(before report: CommitReport, of groupID: GroupID) {
        let oldest = report.epochAfter.earlier(by: Self.maximumPastEpochs)
        var past = (self.pastAdmins[groupID] ?? [:]).filter { $0.key >= oldest && $0.key < report.epochBefore }
        past[report.epochBefore] = Set(report.before.admins)
        self.pastAdmins[groupID] = past
    }
}
