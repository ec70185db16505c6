/// The statistics of a call's media, in frames of all tracks. Snapshots show values of up to a second ago.
public struct CallStatistics: Sendable, Hashable {
    /// Frames sent.
    public package(set) var sent = 0
    /// Frames received, opened and not repeated.
    public package(set) var received = 0
    /// Frames that could not be opened, were repeated, or did not fit into a buffer.
    public package(set) var dropped = 0
    /// Audio frames that arrived after their playout time.
    public package(set) var late = 0
    /// Audio frames that did not arrive in time; silence was played instead.
    public package(set) var lost = 0
    /// Audio frames in the jitter buffer.
    public package(set) var jitterDepth = 0

    /// Creates statistics in which all counts are 0.
    public init() {}
}

/// A report of a call's media session to the core.
package enum CallMediaReport: Sendable, Hashable {
    case connected(callID: String)
    case failed(callID: String, reason: String)
    case statistics(callID: String, CallStatistics)
}
