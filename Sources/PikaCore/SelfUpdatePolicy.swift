/// When this account renews its own keys in its groups automatically (MIP-02, MIP-03).
public struct SelfUpdatePolicy: Sendable, Hashable {
    /// The range of the random delay from joining a group to the first renewal; nil for none. MIP-02 asks for one
    /// within 24 hours, since others may have seen the key package that was used. In groups of the second generation the
    /// delay begins after a minute or more without commits, so that new members do not make branches.
    public var afterJoining: ClosedRange<Duration>?
    /// The maximum age of this account's keys in a group; nil for any age.
    public var every: Duration?

    /// Creates a policy; nil for no automatic renewal of that type.
    public init(afterJoining: ClosedRange<Duration>?, every: Duration?) {
        self.afterJoining = afterJoining
        self.every = every
    }

    /// 5 to 60 seconds after joining, and every seven days.
    public static let standard = SelfUpdatePolicy(afterJoining: .seconds(5) ... .seconds(60), every: .seconds(604_800))
    /// Renews only on request: for swarms of accounts that join one group.
    public static let never = SelfUpdatePolicy(afterJoining: nil, every: nil)

    /// Returns a random delay in milliseconds, so that members that joined together do not renew together.
    func delay(using random: inout some RandomNumberGenerator) -> Int64 {
        let range = self.afterJoining ?? .seconds(5) ... .seconds(60)
        return Int64.random(in: range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds, using: &random)
    }
}
