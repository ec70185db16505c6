/// Name of one record of a stored group. A message changes one or a few records, a commit those along its path.
public enum GroupRecord: Hashable, Sendable, CustomStringConvertible {
    /// Context, own keys, epoch secrets, pending proposals.
    case core
    /// A node of the ratchet tree by its array index (RFC 9420 Appendix C).
    case node(Int)
    /// State for opening messages of an epoch, except its ratchets.
    case epoch(Epoch)
    /// One node secret of an epoch's secret tree.
    case treeSecret(epoch: Epoch, node: Int)
    /// The two ratchets of a leaf in an epoch.
    case ratchets(epoch: Epoch, leaf: UInt32)

    /// Text form for use as a key: "core", "node/7", "epoch/3", "secret/3/7", "ratchet/3/2".
    public var description: String {
        switch self {
        case .core: "core"
        case .node(let index): "node/\(index)"
        case .epoch(let epoch): "epoch/\(epoch)"
        case .treeSecret(let epoch, let node): "secret/\(epoch)/\(node)"
        case .ratchets(let epoch, let leaf): "ratchet/\(epoch)/\(leaf)"
        }
    }

    /// Parses the text form; nil if it is invalid.
    public init?(_ description: some StringProtocol) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().compactMap { UInt64($0) }
        guard numbers.count == parts.count - 1 else { return nil }
        switch (parts.first, numbers.count) {
        case ("core", 0): self = .core
        case ("node", 1):
            guard let index = Int(exactly: numbers[0]) else { return nil }
            self = .node(index)
        case ("epoch", 1): self = .epoch(Epoch(rawValue: numbers[0]))
        case ("secret", 2):
            guard let node = Int(exactly: numbers[1]) else { return nil }
            self = .treeSecret(epoch: Epoch(rawValue: numbers[0]), node: node)
        case ("ratchet", 2):
            guard let leaf = UInt32(exactly: numbers[1]) else { return nil }
            self = .ratchets(epoch: Epoch(rawValue: numbers[0]), leaf: leaf)
        default: return nil
        }
    }
}
