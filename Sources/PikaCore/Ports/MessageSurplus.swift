package import Nostr

/// A rule for deleting stored messages: it matches messages that meet either condition.
package struct MessageSurplus: Sendable, Hashable {
    /// Matches messages written before this time; nil for none.
    package var before: UnixTime?
    /// Matches messages beyond this number of newest ones in their group; nil for none. Ties within one second are
    /// broken arbitrarily.
    package var beyondNewest: Int?

    package init(before: UnixTime? = nil, beyondNewest: Int? = nil) {
        self.before = before
        self.beyondNewest = beyondNewest
    }
}
