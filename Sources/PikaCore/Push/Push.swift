/// Push notifications (docs/protocol/marmot.md §7): the tokens of members' devices, answers to members that ask for
/// them, and requests to push servers.
struct Push: Sendable {
    /// Whether members are notified of this account's messages, its own token, and the tokens of others.
    var tokens = PushTokens()
    var answers = PushAnswers()
    var requests = PushRequests()
}
