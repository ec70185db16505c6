import Nostr
import PikaCore

/// The current call of the core, and the part of it that was reported to clients. Pure.
struct CallProgress: Sendable {
    /// The reaction to a changed call.
    enum Effect: Sendable, Hashable {
        /// Rejects a call of a peer that is not allowed.
        case decline
        case announceInvite
        case announceStart
        case announceEnd(reason: String)
        /// Begins to receive the call's media, if there are any.
        case followMedia
        case announceStatistics(CallStatistics)
    }

    private enum Stage: Int, Sendable {
        case none, invited, started, ended
    }

    private var callID = ""
    private var stage = Stage.none
    /// The call that the current command acts on. That command reports the call's changes itself, after its reply.
    private var commandCallID: String?
    private var followsMedia = false
    private var statistics = CallStatistics()

    // MARK: Commands

    mutating func beginCommand(on callID: String) { self.commandCallID = callID }

    mutating func endCommand() { self.commandCallID = nil }

    /// Notes that the command has started the call.
    mutating func start(_ callID: String) {
        self.follow(callID)
        self.stage = .started
    }

    /// Notes that the command has ended the call.
    mutating func end(_ callID: String) {
        self.follow(callID)
        self.stage = .ended
    }

    // MARK: Changes

    /// - Parameter isAllowed: whether the peer may call this account.
    mutating func receive(_ call: AppState.ActiveCall, isAllowed: Bool) -> [Effect] {
        self.follow(call.callID)
        let isCommanded = self.commandCallID == call.callID
        switch call.phase {
        case .offering: return []
        case .ringing:
            guard !call.isOutgoing, self.stage == .none else { return [] }
            self.stage = .invited
            // An unanswered call would block other callers for as long as it rings.
            return [isAllowed ? .announceInvite : .decline]
        case .connecting, .active:
            var effects: [Effect] = []
            if self.stage.rawValue < Stage.started.rawValue, !isCommanded {
                self.stage = .started
                effects.append(.announceStart)
            }
            if !self.followsMedia { effects.append(.followMedia) }
            if call.statistics != self.statistics {
                self.statistics = call.statistics
                effects.append(.announceStatistics(call.statistics))
            }
            return effects
        case .ended(let reason):
            guard !isCommanded else { return [] }
            defer { self.stage = .ended }
            return self.stage == .started ? [.announceEnd(reason: reason)] : []
        }
    }

    /// Notes that the call's media are being received; returns false if they were before.
    mutating func beginMedia(of callID: String) -> Bool {
        guard self.callID == callID, !self.followsMedia else { return false }
        self.followsMedia = true
        return true
    }

    /// Resets the record if this is a different call from the last one.
    private mutating func follow(_ callID: String) {
        guard self.callID != callID else { return }
        let commandCallID = self.commandCallID
        self = CallProgress()
        self.callID = callID
        self.commandCallID = commandCallID
    }
}

extension AppState.ActiveCall {
    /// Whether both sides have agreed to the call.
    var hasStarted: Bool { self.phase == .connecting || self.phase == .active }

    /// The track that makes this an audio call (docs/protocol/marmot.md §9.1); nil for a data call.
    var audioTrack: CallSession.Track? {
        self.tracks.first { $0.codec.lowercased() == "opus" && $0.channels > 0 && $0.sampleRate > 0 }
    }
}

extension CallSession {
    /// The call's fields in wire format (docs/protocol/marmot.md §9.1).
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
