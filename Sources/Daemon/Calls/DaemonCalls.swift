import Nostr
import PikaCore

/// The current call of the core, and what clients have been told about it.
struct DaemonCalls: Sendable {
    enum Stage: Int, Sendable {
        case none, invited, started, ended
    }

    var callID = ""
    var stage = Stage.none
    /// The call that the current command acts on. That command reports the call's changes itself, after its reply.
    var handled: String?
    var followsMedia = false
    var statistics = CallStatistics()

    /// Resets the record if this is a different call from the last one.
    mutating func begin(_ callID: String) {
        guard self.callID != callID else { return }
        let handled = self.handled
        self = DaemonCalls()
        self.callID = callID
        self.handled = handled
    }
}

extension AppState.ActiveCall {
    var isLive: Bool {
        switch self.phase {
        case .offering, .ringing, .connecting, .active: true
        case .ended: false
        }
    }

    /// Whether both sides have agreed to the call.
    var hasStarted: Bool { self.phase == .connecting || self.phase == .active }

    /// The track that makes this an audio call (wire §8.3); nil for a data call.
    var soundTrack: CallSession.Track? {
        self.tracks.first { $0.codec.lowercased() == "opus" && $0.channels > 0 && $0.sampleRate > 0 }
    }
}

extension CallSession {
    /// The call's fields in wire format (§8.1).
    var fields: JSONValue {
        [
            "moq_url": .string(self.moqURL), "broadcast_base": .string(self.broadcastBase),
            "relay_auth": .string(self.relayAuth),
            "tracks": .array(
                self.tracks.map {
                    [
                        "name": .string($0.name), "codec": .string($0.codec), "sample_rate": .integer($0.sampleRate),
                        "channels": .integer($0.channels), "frame_ms": .integer($0.frameMilliseconds),
                    ]
                }),
        ]
    }
}
