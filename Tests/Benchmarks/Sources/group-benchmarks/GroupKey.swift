import MLS
import Marmot
import Nostr

/// The names of groups and their parts in the store: a byte for the kind, the name of the part, and the group's id.
enum GroupKey {
    static func bytes(_ groupID: GroupID, _ part: GroupPart? = nil) -> [UInt8] {
        switch part {
        case nil: [0] + groupID.bytes
        case .snapshot(let epoch): [1] + epoch.bytes + groupID.bytes
        case .ownCommit(let event): [2] + event.bytes + groupID.bytes
        }
    }

    /// The part is nil for the group itself.
    static func read(_ bytes: [UInt8]) throws -> (groupID: GroupID, part: GroupPart)? {
        switch bytes.first {
        case 1:
            guard let epoch = Epoch(bytes: bytes.dropFirst().prefix(8)) else { return nil }
            return (GroupID(bytes.dropFirst(9)), .snapshot(epoch: epoch))
        case 2: return (GroupID(bytes[33...]), .ownCommit(try EventID(bytes: bytes[1..<33])))
        default: return nil
        }
    }
}
