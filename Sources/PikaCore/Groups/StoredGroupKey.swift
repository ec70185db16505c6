import MLS
import Marmot
import Nostr

/// The key of a group of the first generation, or of a part that belongs to it, in the store. Rows of the second have a
/// ``StoredConvergingKey``.
struct StoredGroupKey: Hashable {
    let groupID: GroupID
    /// The stored part; nil for the group itself.
    let part: GroupPart?

    init(_ groupID: GroupID, _ part: GroupPart? = nil) {
        self.groupID = groupID
        self.part = part
    }

    /// The stored form. A leading byte distinguishes the parts, because peers can choose any group id.
    var bytes: [UInt8] {
        switch self.part {
        case nil: [0] + self.groupID.bytes
        case .ownCommit(let event): [1] + event.bytes + self.groupID.bytes
        case .snapshot(let epoch): [2] + epoch.bytes + self.groupID.bytes
        }
    }

    /// Returns the key of a group state that a later join replaced, or that the removal of this account ended.
    static func leftBranch(_ groupID: GroupID, isActive: Bool) -> [UInt8] { [isActive ? 3 : 5] + groupID.bytes }

    /// Returns the key of a branch that was abandoned because a better commit ended this epoch.
    static func abandonedBranch(_ groupID: GroupID, _ epoch: Epoch) -> [UInt8] {
        [4] + epoch.bytes + groupID.bytes
    }

    static func abandonedBranch(stored bytes: [UInt8]) -> (groupID: GroupID, epoch: Epoch)? {
        guard bytes.first == 4, let epoch = Epoch(bytes: bytes.dropFirst().prefix(8)) else { return nil }
        return (GroupID(bytes.dropFirst(9)), epoch)
    }

    static func leftBranch(stored bytes: [UInt8]) -> GroupID? {
        bytes.first == 3 || bytes.first == 5 ? GroupID(bytes.dropFirst()) : nil
    }

    /// Returns the group that a stored key of any form belongs to.
    static func groupID(ofStored bytes: [UInt8]) -> GroupID {
        self.leftBranch(stored: bytes) ?? self.abandonedBranch(stored: bytes)?.groupID
            ?? StoredGroupKey(stored: bytes)?.groupID ?? StoredConvergingKey(stored: bytes)?.groupID ?? GroupID(bytes)
    }

    init?(stored bytes: [UInt8]) {
        switch bytes.first {
        case 0: self.init(GroupID(bytes.dropFirst()))
        case 1:
            guard let event = try? EventID(bytes: Array(bytes.dropFirst().prefix(32))) else { return nil }
            self.init(GroupID(bytes.dropFirst(33)), .ownCommit(event))
        case 2:
            guard let epoch = Epoch(bytes: bytes.dropFirst().prefix(8)) else { return nil }
            self.init(GroupID(bytes.dropFirst(9)), .snapshot(epoch: epoch))
        default: return nil
        }
    }
}
