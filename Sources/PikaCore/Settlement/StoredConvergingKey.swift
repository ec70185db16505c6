import MLS
import Marmot
import Nostr

/// The key of a row of a group of the second generation in the store.
struct StoredConvergingKey: Hashable {
    /// Row of a group.
    enum Part: Hashable {
        /// The selected state, with the group's MLS records.
        case tip
        /// A part of the branch selection.
        case convergence(ConvergencePart)
        /// An own commit's event and invitations.
        case ownCommit(Bytes32)
        /// The state that this account left for an invitation, with its own MLS records (``OtherStates``).
        case left
    }

    let groupID: GroupID
    let part: Part

    init(_ groupID: GroupID, _ part: Part) {
        self.groupID = groupID
        self.part = part
    }

    /// The stored form. Leading bytes below 6 belong to the first generation (``StoredGroupKey``).
    var bytes: [UInt8] {
        switch self.part {
        case .tip: [6] + self.groupID.bytes
        case .ownCommit(let id): [7] + id.bytes + self.groupID.bytes
        case .convergence(.outline): [8] + self.groupID.bytes
        case .convergence(.origin(let id)): [9] + id.bytes + self.groupID.bytes
        case .convergence(.state(let id)): [10] + id.bytes + self.groupID.bytes
        case .convergence(.staged(let id)): [11] + id.bytes + self.groupID.bytes
        case .convergence(.input(let id)): [12] + id.bytes + self.groupID.bytes
        case .convergence(.closed(let chunk)):
            [13] + chunk.epoch.bytes + Self.bytes(of: chunk.number) + self.groupID.bytes
        case .left: [14] + self.groupID.bytes
        }
    }

    private static func bytes(of number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Parses a stored key; nil for one of the first generation, and for an unknown form.
    init?(stored bytes: [UInt8]) {
        let rest = bytes.dropFirst()
        func named(_ part: (Bytes32) -> Part) -> StoredConvergingKey? {
            Bytes32(rest.prefix(32)).map { StoredConvergingKey(GroupID(rest.dropFirst(32)), part($0)) }
        }
        let key: StoredConvergingKey?
        switch bytes.first {
        case 6: key = StoredConvergingKey(GroupID(rest), .tip)
        case 7: key = named { .ownCommit($0) }
        case 8: key = StoredConvergingKey(GroupID(rest), .convergence(.outline))
        case 9: key = named { .convergence(.origin($0)) }
        case 10: key = named { .convergence(.state($0)) }
        case 11: key = named { .convergence(.staged($0)) }
        case 12: key = named { .convergence(.input($0)) }
        case 13:
            guard let epoch = Epoch(bytes: rest.prefix(8)), rest.count >= 12 else { return nil }
            let number = rest.dropFirst(8).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            key = StoredConvergingKey(
                GroupID(rest.dropFirst(12)), .convergence(.closed(ClosedChunk(epoch: epoch, number: number))))
        case 14: key = StoredConvergingKey(GroupID(rest), .left)
        default: key = nil
        }
        guard let key else { return nil }
        self = key
    }
}
