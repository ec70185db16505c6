/// Stored messages that are not to be kept any longer: those for which either condition holds.
public struct MessageSurplus: Sendable, Hashable {
    /// Messages that were written before this time, Unix seconds; nil for none.
    public var before: Int64?
    /// Messages beyond so many newest ones of their group; nil for none. Of those of one second it is open which stay.
    public var beyondNewest: Int?

    public init(before: Int64? = nil, beyondNewest: Int? = nil) {
        self.before = before
        self.beyondNewest = beyondNewest
    }
}
