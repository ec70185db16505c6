import BotKit
import Nostr

/// Whether a bot may be triggered by an event.
enum AdmissionVerdict: Hashable, Sendable {
    case admitted
    case ignored(IgnoreReason)
}

/// Why an event was not for a bot; the text is a metric label.
struct IgnoreReason: Hashable, Sendable, CustomStringConvertible {
    let description: String

    /// It was caused by the account itself.
    static let own = IgnoreReason(description: "own")
    /// The bot is not at work in groups, or only where it is mentioned.
    static let groupScope = IgnoreReason(description: "group_scope")
}

/// Decides, bot by bot, whether an event may trigger it.
struct Admission: Sendable {
    func judge(_ event: CoreEvent, for policy: BotPolicy, in scope: EventScope) -> AdmissionVerdict {
        switch event.content {
        case .message(let message):
            guard message.sender != scope.account else { return .ignored(.own) }
            let isAdmitted =
                switch policy.groups[event.chatID] {
                case .all: true
                case .mention: !scope.isGroup || EventFilter.mention.matches(message, in: scope)
                case .none: !scope.isGroup
                }
            return isAdmitted ? .admitted : .ignored(.groupScope)
        case .call(let call): return call.sender == scope.account ? .ignored(.own) : .admitted
        case .commit, .joined: return .admitted
        }
    }
}
