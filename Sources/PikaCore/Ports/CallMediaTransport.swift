/// What carries call media, as the core needs it: shaped after MoQ, where a relay hands the tracks of a broadcast
/// from whoever publishes it on to whoever subscribes (wire §8.2).
public protocol CallMediaTransport: Sendable {
    /// Connects to a media relay, such as `https://host/path`. The call's token is not sent: paths cannot be guessed.
    ///
    /// Throws if nothing here speaks to such an address, or the relay does not answer.
    func connect(to url: String) async throws -> any CallMediaConnection
}

/// A connection to a media relay; calls may come at the same time.
public protocol CallMediaConnection: Sendable {
    /// Announces the broadcast of the path, unless it was, and opens one of its tracks for writing.
    func publish(_ address: CallTrackAddress) async throws -> any CallTrackWriter

    /// Returns once the broadcast was announced, however long that takes; cancel it to give up. What comes is in
    /// whatever order the network gave it, and ends when the broadcast does.
    func subscribe(_ address: CallTrackAddress) async throws -> AsyncThrowingStream<CallMediaGroup, any Error>

    /// Ends everything that was opened here.
    func close() async
}

/// One track that is published.
public protocol CallTrackWriter: Sendable {
    /// Sends a group; returns when the transport has taken it over. Throws when the connection is gone.
    func write(_ group: CallMediaGroup) async throws
}

/// A track of a broadcast.
public struct CallTrackAddress: Sendable, Hashable {
    /// `<broadcast base>/<participant's label>`.
    public var path: String
    public var track: String

    public init(path: String, track: String) {
        self.path = path
        self.track = track
    }
}

/// One MoQ group: one frame, sealed.
public struct CallMediaGroup: Sendable, Hashable {
    public var sequence: UInt64
    public var payload: [UInt8]

    public init(sequence: UInt64, payload: [UInt8]) {
        self.sequence = sequence
        self.payload = payload
    }
}

/// For accounts that take part in no calls.
public struct NoCallMediaTransport: CallMediaTransport {
    public init() {}

    /// Throws ``AppCoreError/Code/callMediaFailed``.
    public func connect(to url: String) async throws -> any CallMediaConnection {
        throw AppCoreError(.callMediaFailed, "nothing here carries call media to \(url)")
    }
}
