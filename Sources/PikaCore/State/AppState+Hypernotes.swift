public import Nostr

extension AppState {
    /// A message with components, and the answers to it.
    public struct HypernoteView: Sendable, Hashable {
        public let title: String?
        /// The message's content as a tree.
        public let document: HypernoteDocument
        /// The form's initial values, by field.
        public let initialForm: [String: String]
        /// Each member's latest answer that names one of the document's actions, oldest first.
        public internal(set) var responses: [HypernoteResponse] = []
        /// This account's own among ``responses``.
        public internal(set) var ownResponse: HypernoteResponse?

        /// The number of members who chose each action; unchosen actions are left out.
        public var tally: [String: Int] {
            self.responses.reduce(into: [:]) { $0[$1.action, default: 0] += 1 }
        }
    }

    public struct HypernoteResponse: Sendable, Hashable {
        public let sender: PublicKey
        public let action: String
        public let form: [String: String]
        /// Unix seconds.
        public let createdAt: Int64
    }
}
