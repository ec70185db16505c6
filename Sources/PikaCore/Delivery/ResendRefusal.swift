/// The reason why a message of this account that left its group's history with its branch is not sent again. The message
/// counts as failed then, so that nothing is lost silently.
package enum ResendRefusal: String, Sendable, CaseIterable {
    /// This account is no longer a member on the branch that won, or has left.
    case membershipEnded = "membership_ended"
    /// Its files are encrypted for a state that the group has left: receivers try no other secret than that of the state in
    /// which a message is sent.
    case filesLost = "files_lost"
    /// It was sent again as often as is allowed, or with too many others.
    case tooOften = "sent_too_often"
    /// It could not be encrypted again.
    case notSealed = "not_sealed"

    private static let prefix = "withdrawn/"

    /// The reason of the failure: this code, and an explanation.
    var reason: String { "\(Self.prefix)\(self.rawValue): \(self.explanation)" }

    private var explanation: String {
        switch self {
        case .membershipEnded:
            "the members continue without the commit after which the message was sent, and without this account"
        case .filesLost: "the members could not open its files, because the group changed; send it anew"
        case .tooOften: "competing commits have undone it too often; retry it once the group is settled"
        case .notSealed: "the members continue without the commit after which it was sent, and it cannot be sent again"
        }
    }

    /// Whether a failure ends when the message becomes part of the history again.
    package static func isReason(_ text: String) -> Bool { text.hasPrefix(self.prefix) }
}
