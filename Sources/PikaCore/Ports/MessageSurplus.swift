/// A rule for deleting stored messages: it matches messages that meet either condition.
package struct MessageSurplus: Sendable, Hashable {
    /// Matches messages written before this time, Unix seconds; nil for none.
    package var before: Int64?
    /// Matches messages beyond this number of newest ones in their group; nil for none. Ties within one second are
    /// broken arbitrarily.
    package var beyondNewest: Int?

    package init(before: Int64? = nil, beyondNewest: Int? = nil) {
        self.before = before
        self.beyondNewest = beyondNewest
    }
}
