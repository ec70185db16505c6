package import BotKit
import Nostr
package import PikaCore

/// The part of the verdict that depends only on the event and the configuration.
extension Admission {
    package func judge(_ event: CoreEvent, for policy: BotPolicy, in scope: EventScope) -> AdmissionVerdict {
        switch event.content {
        // Policies are about members and chats; the feed's own settings decide who may add items to it.
        case .feed: return .admitted
        case .message(let message):
            guard message.sender != scope.account else { return .ignored(.own) }
            guard Self.isInScope(message, policy, scope) else {
                return .ignored(.groupScope, detail: "groups: \(policy.groups.scope(in: scope).rawValue)")
            }
        case .call(let call): if call.sender == scope.account { return .ignored(.own) }
        case .commit, .proposal, .joined, .withdrawn: break
        // The bot asked for it by requesting the action.
        case .outcome: return .admitted
        }
        if scope.isGroup, policy.groups.scope(in: scope) == .none {
            return .ignored(.groupScope, detail: "groups: none")
        }
        guard let trigger = event.trigger(by: scope.account),
            let objection = policy.triggers.objection(to: trigger.author, role: trigger.role)
        else {
            // The account's own joins and commits, and withdrawals, have no author to check; a bot with
            // `triggers: nobody` ignores them too.
            return policy.triggers == .nobody ? .ignored(.notAllowed, detail: "triggers: nobody") : .admitted
        }
        return .ignored(objection, detail: policy.triggers.detail(trigger.role))
    }

    private static func isInScope(_ message: MessageEvent, _ policy: BotPolicy, _ scope: EventScope) -> Bool {
        switch policy.groups.scope(in: scope) {
        case .all: true
        // Messages of an active conversation need no mention.
        case .mention:
            !scope.isGroup || !scope.conversations.isEmpty || EventFilter.mention.matches(message, in: scope)
        case .none: !scope.isGroup
        }
    }
}

extension CoreEvent {
    /// Returns the author of the event; nil for the account's own commits, for its joins, which the invitation policy
    /// decides, for items of feeds, and for withdrawals, which have no author: a bot that received a message is always told
    /// that it was withdrawn.
    func trigger(by account: PublicKey) -> (author: PublicKey, role: MemberRole?)? {
        switch content {
        case .message(let message): (message.sender, message.role)
        case .call(let call): (call.sender, call.role)
        case .proposal(let proposal): (proposal.sender, proposal.role)
        case .commit(let commit): commit.isOwn || commit.committer == account ? nil : (commit.committer, commit.role)
        case .joined, .withdrawn, .outcome, .feed: nil
        }
    }
}

extension TriggerPolicy {
    fileprivate func detail(_ role: MemberRole?) -> String {
        switch self {
        case .members: "triggers: members"
        case .admins: "triggers: admins; the author's role in the event's epoch: \(role.map(\.rawValue) ?? "unknown")"
        case .allowlist: "triggers: the author is not on the allowlist"
        case .nobody: "triggers: nobody"
        }
    }
}

extension GroupPolicy {
    fileprivate func scope(in scope: EventScope) -> Scope {
        self.scope(of: scope.chatID, exceptions.isEmpty ? nil : scope.chat, in: scope.snapshot)
    }
}
