import Nostr

/// One reading of the monotonic and the wall clock.
struct Moment: Hashable, Sendable {
    /// Time since the transport began; monotonic.
    var elapsed: Duration
    /// The wall clock's time.
    var unixTime: UnixTime
}
