/// What a call's media did so far, in frames of all tracks; as of a second ago in snapshots.
public struct CallStatistics: Sendable, Hashable {
    /// Frames sent.
    public internal(set) var sent = 0
    /// Frames received, opened and not repeated.
    public internal(set) var received = 0
    /// Frames that could not be opened, came again, or found no room.
    public internal(set) var dropped = 0
    /// Audio frames that came after their turn.
    public internal(set) var late = 0
    /// Audio frames that did not come in time; silence was given for them.
    public internal(set) var lost = 0
    /// Audio frames that wait for their turn.
    public internal(set) var jitterDepth = 0

    public init() {}
}

/// What a call's media session tells the core.
enum CallMediaReport: Sendable, Hashable {
    case connected(callID: String)
    case failed(callID: String, reason: String)
    case statistics(callID: String, CallStatistics)
}
