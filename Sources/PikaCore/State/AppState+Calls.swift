public import Nostr

extension AppState {
    /// The current call, or the one that ended last.
    public struct ActiveCall: Sendable, Hashable {
        /// The call's id as the invite states it, usually a UUID.
        public let callID: String
        /// The id of the chat; empty if the group is gone.
        public internal(set) var chatID: ChatID
        /// The other side of the call.
        public let peer: PublicKey
        /// Whether this account invited.
        public let isOutgoing: Bool
        /// The call's progress.
        public internal(set) var phase: Phase
        /// Whether the session has a video track.
        public let isVideo: Bool
        /// While true, no audio of this account is sent.
        public internal(set) var isMuted: Bool
        /// Whether this account's video is sent.
        public internal(set) var isCameraOn: Bool
        /// The time of the invitation.
        public let startedAt: UnixTime
        /// The time of the connection; nil until the call is ``Phase/active``.
        public internal(set) var connectedAt: UnixTime?
        /// The media tracks of the session.
        public let tracks: [CallSession.Track]
        /// The media statistics; all 0 until media flow.
        public internal(set) var statistics: CallStatistics

        /// Whether the call is not over: it is offered, rings, is being connected or is active.
        public var isLive: Bool { self.phase.isLive }

        /// Whether an app shows the call's screen without being asked: while the call is live.
        public var shouldAutoPresentCallScreen: Bool { self.phase.isLive }

        /// Whether a phone turns its display off at the ear: in a live call without video, but not while it rings, when the
        /// user looks at the display to answer.
        public var shouldEnableProximityLock: Bool { self.phase.isLive && self.phase != .ringing && !self.isVideo }

        /// The progress of a call.
        public enum Phase: Sendable, Hashable {
            /// This account has invited and waits for an answer.
            case offering
            /// This account was invited.
            case ringing
            /// Both sides have accepted; the media connection is being set up.
            case connecting
            /// The media connection is open.
            case active
            /// The call is over, with the reason as text.
            case ended(reason: String)

            /// Whether the call is not over.
            var isLive: Bool { if case .ended = self { false } else { true } }
        }
    }

    /// An entry about a call in the chat's history.
    public struct CallTimelineEntry: Sendable, Hashable {
        /// The call's id as the invite states it, usually a UUID.
        public let callID: String
        /// The id of the chat; empty if the group was gone.
        public internal(set) var chatID: ChatID
        /// The other side of the call.
        public let peer: PublicKey
        /// The time of the event.
        public let at: UnixTime
        /// The recorded event.
        public let event: Event

        /// An event in the course of a call.
        public enum Event: Sendable, Hashable {
            /// An invitation, sent by this account or by the peer.
            case invited(byUs: Bool)
            /// The media connection was opened.
            case connected
            /// The call's duration in seconds; nil if it never connected.
            case ended(reason: String, seconds: Int64?)
        }
    }
}
