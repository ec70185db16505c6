import BotKit

/// What is to be done when something happens.
struct Rule: Sendable {
    /// For logs, metrics and values that outlast the process.
    var name: String
    let trigger: Trigger
    /// Who may cause it; nil for everybody.
    let only: Audience?
    /// Where; nil for every chat.
    let chats: Set<String>?
    let cooldown: Cooldown?
    /// Whether rules below are left out once this one has applied.
    let stops: Bool
    let actions: [Action]
    /// What is said when an action fails; nil for nothing.
    let failure: String?
}

/// Who may cause a rule: whoever is in one of these.
struct Audience: Hashable, Sendable {
    var admins = false
    var operators = false
    var keys: Set<PublicKey> = []
}

/// How long a rule rests after it has applied, and for whom.
struct Cooldown: Hashable, Sendable {
    enum Scope: String, Hashable, Sendable, CaseIterable {
        case sender, chat
    }

    var seconds: Int64
    var per: Scope
}
