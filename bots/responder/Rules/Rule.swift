import BotKit

/// A rule: a trigger, conditions and actions.
struct Rule: Sendable {
    /// The name in logs, metrics and stored values.
    var name: String
    let trigger: Trigger
    /// The accounts that may trigger it; nil for everyone.
    let only: Audience?
    /// The chats in which it applies; nil for all.
    let chats: Set<ChatID>?
    let cooldown: Cooldown?
    /// Whether later rules are skipped once this one has applied.
    let stops: Bool
    let actions: [Action]
    /// The text to send when an action fails; nil for none.
    let failure: String?
}

/// The accounts that may trigger a rule: members of any of these sets.
struct Audience: Hashable, Sendable {
    var admins = false
    var operators = false
    var keys: Set<PublicKey> = []
}

/// The time for which a rule is suspended after it has applied, and its scope.
struct Cooldown: Hashable, Sendable {
    enum Scope: String, Hashable, Sendable, CaseIterable {
        case sender, chat
    }

    var seconds: Int64
    var per: Scope
}
