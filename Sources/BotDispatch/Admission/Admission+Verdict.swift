package import BotKit
import Nostr
package import PikaCore

/// The part of a verdict that only the event and the configuration decide.
extension Admission {
    package func judge(_ event: CoreEvent, for policy: BotPolicy, in scope: EventScope) -> AdmissionVerdict {
        switch event.content {
        case .message(let message):
            guard message.sender != scope.account else { return .ignored(.own) }
            guard Self.isInScope(message, policy, scope) else {
                return .ignored(.groupScope, detail: "groups: \(policy.groups.scope(in: scope).rawValue)")
            }
        case .call(let call): if call.sender == scope.account { return .ignored(.own) }
        case .commit, .joined: break
        }
        if scope.isGroup, policy.groups.scope(in: scope) == .none {
            return .ignored(.groupScope, detail: "groups: none")
        }
        guard let trigger = event.trigger(by: scope.account),
            let objection = policy.triggers.objection(to: trigger.author, role: trigger.role)
        else {
            // One's own arrival and commits are nobody's request; a bot for nobody stays silent then too.
            return policy.triggers == .nobody ? .ignored(.notAllowed, detail: "triggers: nobody") : .admitted
        }
        return .ignored(objection, detail: policy.triggers.words(trigger.role))
    }

    private static func isInScope(_ message: MessageEvent, _ policy: BotPolicy, _ scope: EventScope) -> Bool {
        switch policy.groups.scope(in: scope) {
        case .all: true
        // The next word of a conversation under way needs no mention.
        case .mention:
            !scope.isGroup || !scope.conversations.isEmpty || EventFilter.mention.matches(message, in: scope)
        case .none: !scope.isGroup
        }
    }
}

extension CoreEvent {
    /// Whose doing it is; nil for what the account itself did, and its arrival, which the invitation policy decides.
    func trigger(by account: PublicKey) -> (author: PublicKey, role: MemberRole?)? {
        switch content {
        case .message(let message): (message.sender, message.role)
        case .call(let call): (call.sender, call.role)
        case .commit(let commit): commit.isOwn || commit.committer == account ? nil : (commit.committer, commit.role)
        case .joined: nil
        }
    }
}

extension TriggerPolicy {
    fileprivate func words(_ role: MemberRole?) -> String {
        switch self {
        case .members: "triggers: members"
        case .admins: "triggers: admins; in the event's epoch its author was \(role.map(\.rawValue) ?? "unknown")"
        case .allowlist: "triggers: a list on which its author is not"
        case .nobody: "triggers: nobody"
        }
    }
}

extension GroupPolicy {
    fileprivate func scope(in scope: EventScope) -> Scope {
        self.scope(of: scope.chatID, exceptions.isEmpty ? nil : scope.chat, in: scope.snapshot)
    }
}
