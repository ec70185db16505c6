public import Nostr

extension AppState {
    /// A message with components, and the answers to it.
    public struct HypernoteView: Sendable, Hashable {
        /// The message's title; nil if absent.
        public let title: String?
        /// The message's content as a tree.
        public let document: HypernoteDocument
        /// The form's initial values, by field.
        public let initialForm: [String: String]
        /// Each member's latest answer that names one of the document's actions, oldest first.
        public internal(set) var responses: [HypernoteResponse] = []
        /// This account's own response among ``responses``.
        public internal(set) var ownResponse: HypernoteResponse?

        /// The number of members who chose each action; unchosen actions are left out.
        public var tally: [String: Int] {
            self.responses.reduce(into: [:]) { $0[$1.action, default: 0] += 1 }
        }
    }

    /// A member's answer to a hypernote (kind 9468).
    public struct HypernoteResponse: Sendable, Hashable {
        /// The member who answered.
        public let sender: PublicKey
        /// The name of the chosen action.
        public let action: String
        /// The form's values as text, by field.
        public let form: [String: String]
        /// The time of the answer.
        public let createdAt: UnixTime
    }
}
