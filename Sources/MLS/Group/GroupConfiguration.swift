/// How a client treats a group; it is local and not on the wire.
public struct GroupConfiguration: Hashable, Sendable {
    /// Unused message keys of this many generations before the newest are kept (RFC 9420 §15.3).
    public var outOfOrderTolerance: UInt32
    /// A message may be this many generations ahead (RFC 9420 §15.3).
    public var maximumForwardDistance: UInt32
    /// Secrets of this many past epochs are kept for late messages (RFC 9420 §15.3).
    public var maximumPastEpochs: Int
    /// Private messages are padded to a multiple of this many bytes (RFC 9420 §15.1); 0 for no padding.
    public var paddingSize: Int

    public init(
        outOfOrderTolerance: UInt32 = 100, maximumForwardDistance: UInt32 = 1000, maximumPastEpochs: Int = 5,
        paddingSize: Int = 0
    ) {
        self.outOfOrderTolerance = outOfOrderTolerance
        self.maximumForwardDistance = maximumForwardDistance
        self.maximumPastEpochs = maximumPastEpochs
        self.paddingSize = paddingSize
    }

    var ratchetLimits: RatchetLimits {
        RatchetLimits(outOfOrder: self.outOfOrderTolerance, forward: self.maximumForwardDistance)
    }
}
