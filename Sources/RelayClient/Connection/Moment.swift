/// One reading of both clocks.
struct Moment: Hashable, Sendable {
    /// Since the transport began; never jumps.
    var elapsed: Duration
    /// Seconds since 1970.
    var unixTime: Int64
}
