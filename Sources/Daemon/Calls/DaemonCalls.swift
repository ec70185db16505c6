import Nostr
import PikaCore

/// What was told of the call that the core knows of.
struct DaemonCalls: Sendable {
    enum Stage: Int, Sendable {
        case none, invited, started, ended
    }

    var callID = ""
    var stage = Stage.none
    /// The call that a command is about: it tells of what it has led to itself, after its reply.
    var handled: String?
    var followsMedia = false
    var statistics = CallStatistics()

    /// Another call makes what was told of the last one old.
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

    /// Both sides want it.
    var hasStarted: Bool { self.phase == .connecting || self.phase == .active }

    /// The track that makes it a call of sound (wire §8.3); without one it is a call of data.
    var soundTrack: CallSession.Track? {
        self.tracks.first { $0.codec.lowercased() == "opus" && $0.channels > 0 && $0.sampleRate > 0 }
    }
}

extension CallSession {
    /// As the wire has it (§8.1).
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
