public import Nostr

extension AppState {
    public struct ActiveCall: Sendable, Hashable {
        public let callID: String
        public internal(set) var chatID: String
        public let peer: PublicKey
        /// Whether this account invited.
        public let isOutgoing: Bool
        public internal(set) var phase: Phase
        public let isVideo: Bool
        /// While true, no audio of this account is sent.
        public internal(set) var isMuted: Bool
        /// Whether this account's video is sent.
        public internal(set) var isCameraOn: Bool
        /// Unix seconds of the invitation.
        public let startedAt: Int64
        /// Unix seconds; nil until the call is ``Phase/active``.
        public internal(set) var connectedAt: Int64?
        public let tracks: [CallSession.Track]
        public internal(set) var statistics: CallStatistics

        public enum Phase: Sendable, Hashable {
            /// This account has invited and waits for an answer.
            case offering
            /// This account was invited.
            case ringing
            /// Both sides have accepted; the media connection is being set up.
            case connecting
            case active
            case ended(reason: String)
        }
    }

    /// An entry about a call in the chat's history.
    public struct CallTimelineEntry: Sendable, Hashable {
        public let callID: String
        public internal(set) var chatID: String
        public let peer: PublicKey
        /// Unix seconds.
        public let at: Int64
        public let event: Event

        public enum Event: Sendable, Hashable {
            case invited(byUs: Bool)
            case connected
            /// The call's duration in seconds; nil if it never connected.
            case ended(reason: String, seconds: Int64?)
        }
    }
}
