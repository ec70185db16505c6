/// The transport of call media, which the host provides. Modelled on MoQ, where a relay forwards the tracks of a
/// broadcast from its publisher to its subscribers (docs/protocol/marmot.md §9.6).
package protocol CallMediaTransport: Sendable {
    /// Prepares a connection to a media relay, such as `https://host/path`, or makes it. The call's token is not sent:
    /// paths cannot be guessed.
    ///
    /// - Throws: if no implementation supports the address, or the relay does not answer.
    func connect(to url: String) async throws -> any CallMediaConnection
}

/// A connection to a media relay; calls may be concurrent.
package protocol CallMediaConnection: Sendable {
    /// Keeps the connection: a session runs this beside everything else that it does with the connection.
    ///
    /// Throws when the connection cannot be made, or is lost for good; may return at any time.
    func run() async throws

    /// Announces the broadcast of the path, unless already announced, and opens one of its tracks for writing.
    func publish(_ address: CallTrackAddress) async throws -> any CallTrackWriter

    /// Returns once the broadcast is announced, without a deadline; cancel the task to stop waiting. Groups arrive in
    /// the network's order; the stream ends with the broadcast.
    func subscribe(_ address: CallTrackAddress) async throws -> AsyncThrowingStream<CallMediaGroup, any Error>

    /// Closes everything opened on this connection.
    func close() async
}

extension CallMediaConnection {
    /// Returns at once: the connection needs no task.
    package func run() async throws {}
}

/// A published track.
package protocol CallTrackWriter: Sendable {
    /// Sends a group; returns when the transport has accepted or dropped it. Throws if the connection is lost for good.
    func write(_ group: CallMediaGroup) async throws
}

/// A track of a broadcast.
package struct CallTrackAddress: Sendable, Hashable {
    /// `<broadcast base>/<participant's label>`.
    package var path: String
    package var track: String

    package init(path: String, track: String) {
        self.path = path
        self.track = track
    }
}

/// One MoQ group: one frame, sealed.
package struct CallMediaGroup: Sendable, Hashable {
    package var sequence: UInt64
    package var payload: [UInt8]

    package init(sequence: UInt64, payload: [UInt8]) {
        self.sequence = sequence
        self.payload = payload
    }
}
