/// The transport of call media, which the host provides. Modelled on MoQ, where a relay forwards the tracks of a
/// broadcast from its publisher to its subscribers (docs/protocol/marmot.md §9.6).
package protocol CallMediaTransport: Sendable {
    /// Connects to a media relay, such as `https://host/path`. The call's token is not sent: paths cannot be guessed.
    ///
    /// - Throws: if no implementation supports the address, or the relay does not answer.
    func connect(to url: String) async throws -> any CallMediaConnection
}

/// A connection to a media relay; calls may be concurrent.
package protocol CallMediaConnection: Sendable {
    /// Announces the broadcast of the path, unless already announced, and opens one of its tracks for writing.
    func publish(_ address: CallTrackAddress) async throws -> any CallTrackWriter

    /// Returns once the broadcast is announced, without a deadline; cancel the task to stop waiting. Groups arrive in
    /// the network's order; the stream ends with the broadcast.
    func subscribe(_ address: CallTrackAddress) async throws -> AsyncThrowingStream<CallMediaGroup, any Error>

    /// Closes everything opened on this connection.
    func close() async
}

/// A published track.
package protocol CallTrackWriter: Sendable {
    /// Sends a group; returns when the transport has accepted it. Throws if the connection is lost.
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
