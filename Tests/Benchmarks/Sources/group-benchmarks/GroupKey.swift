import MLS
import Marmot
import Nostr

/// How groups and their parts are named in the store: a byte that tells which, what names the part, the group's id.
enum GroupKey {
    static func bytes(_ groupID: [UInt8], _ part: GroupPart? = nil) -> [UInt8] {
        switch part {
        case nil: [0] + groupID
        case .snapshot(let epoch): [1] + epoch.bytes + groupID
        case .ownCommit(let event): [2] + event.bytes + groupID
        }
    }

    /// Nil for a group itself.
    static func read(_ bytes: [UInt8]) throws -> (groupID: [UInt8], part: GroupPart)? {
        switch bytes.first {
        case 1:
            guard let epoch = Epoch(bytes: bytes.dropFirst().prefix(8)) else { return nil }
            return (Array(bytes.dropFirst(9)), .snapshot(epoch: epoch))
        case 2: return (Array(bytes[33...]), .ownCommit(try EventID(bytes: bytes[1..<33])))
        default: return nil
        }
    }
}
