/// When this account renews its own keys in its groups by itself (MIP-02, MIP-03).
public struct SelfUpdatePolicy: Sendable, Hashable {
    /// How long after joining a group its first renewal comes, chosen at random; nil for none. MIP-02 asks for one
    /// within 24 hours, since others may have seen the key package that was used.
    public var afterJoining: ClosedRange<Duration>?
    /// How old this account's keys in a group may become; nil for any age.
    public var every: Duration?

    public init(afterJoining: ClosedRange<Duration>?, every: Duration?) {
        self.afterJoining = afterJoining
        self.every = every
    }

    /// 5 to 60 seconds after joining, and every seven days.
    public static let standard = SelfUpdatePolicy(afterJoining: .seconds(5) ... .seconds(60), every: .seconds(604_800))
    /// Only when asked: for swarms of accounts that join one group.
    public static let never = SelfUpdatePolicy(afterJoining: nil, every: nil)

    /// Milliseconds of a random delay, so that members who joined at once do not renew at once.
    func delay(using random: inout some RandomNumberGenerator) -> Int64 {
        let range = self.afterJoining ?? .seconds(5) ... .seconds(60)
        return Int64.random(in: range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds, using: &random)
    }
}
