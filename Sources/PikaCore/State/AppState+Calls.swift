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
        /// Nothing is heard of this account while it is true.
        public internal(set) var isMuted: Bool
        /// Whether this account's pictures are sent.
        public internal(set) var isCameraOn: Bool
        /// Unix seconds of the invitation.
        public let startedAt: Int64
        /// Unix seconds; nil before the call was ``Phase/active``.
        public internal(set) var connectedAt: Int64?
        public let tracks: [CallSession.Track]
        public internal(set) var statistics: CallStatistics

        public enum Phase: Sendable, Hashable {
            /// We invited and wait.
            case offering
            /// We were invited.
            case ringing
            /// Both want it; its media are being connected.
            case connecting
            case active
            case ended(reason: String)
        }
    }

    /// Something that happened in a call, for the chat's history.
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
            /// Seconds that it lasted; nil if it never connected.
            case ended(reason: String, seconds: Int64?)
        }
    }
}
