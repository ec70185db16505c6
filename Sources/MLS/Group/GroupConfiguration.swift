/// Local settings of one client for a group; never on the wire.
public struct GroupConfiguration: Hashable, Sendable {
    /// Number of generations behind the newest whose unused message keys are kept (RFC 9420 §15.3).
    public var outOfOrderTolerance: UInt32
    /// Maximum number of generations that a message may be ahead (RFC 9420 §15.3).
    public var maximumForwardDistance: UInt32
    /// Number of past epochs whose secrets are kept for late messages (RFC 9420 §15.3).
    public var maximumPastEpochs: Int
    /// Multiple, in bytes, to which private messages are padded (RFC 9420 §15.1); 0 for no padding.
    public var paddingSize: Int
    /// Rules beyond RFC 9420 that all members of the group share.
    public var rules: GroupRules

    /// Creates a configuration; the defaults keep 100 generations and 5 past epochs, and add neither padding nor rules.
    public init(
        outOfOrderTolerance: UInt32 = 100, maximumForwardDistance: UInt32 = 1000, maximumPastEpochs: Int = 5,
        paddingSize: Int = 0, rules: GroupRules = .init()
    ) {
        self.outOfOrderTolerance = outOfOrderTolerance
        self.maximumForwardDistance = maximumForwardDistance
        self.maximumPastEpochs = maximumPastEpochs
        self.paddingSize = paddingSize
        self.rules = rules
    }

    var ratchetLimits: RatchetLimits {
        RatchetLimits(outOfOrder: self.outOfOrderTolerance, forward: self.maximumForwardDistance)
    }
}
