import Marmot
import Nostr

/// How groups and their parts are named in the store: a byte that tells which, what names the part, the group's id.
enum GroupKey {
    static func bytes(_ groupID: [UInt8], _ part: GroupPart? = nil) -> [UInt8] {
        switch part {
        case nil: [0] + groupID
        case .snapshot(let epoch): [1] + withUnsafeBytes(of: epoch.bigEndian) { Array($0) } + groupID
        case .ownCommit(let event): [2] + event.bytes + groupID
        }
    }

    /// Nil for a group itself.
    static func read(_ bytes: [UInt8]) throws -> (groupID: [UInt8], part: GroupPart)? {
        switch bytes.first {
        case 1:
            let epoch = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return (Array(bytes[9...]), .snapshot(epoch: epoch))
        case 2: return (Array(bytes[33...]), .ownCommit(try EventID(bytes: bytes[1..<33])))
        default: return nil
        }
    }
}
