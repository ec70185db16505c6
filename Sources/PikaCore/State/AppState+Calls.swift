public import Nostr

extension AppState {
    public struct ActiveCall: Sendable, Hashable {
        public let callID: String
        public let chatID: String
        public let peer: PublicKey
        public internal(set) var phase: Phase

        public enum Phase: Sendable, Hashable {
            /// We invited and wait.
            case offering
            /// We were invited.
            case ringing
            case ended(reason: String)
        }
    }

    /// Something that happened in a call, for the chat's history.
    public struct CallTimelineEntry: Sendable, Hashable {
        public let callID: String
        public let chatID: String
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
