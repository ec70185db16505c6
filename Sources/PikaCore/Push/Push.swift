/// Push notifications (docs/protocol/marmot.md §7): the tokens of members' devices, answers to members that ask for
/// them, and requests to push servers.
struct Push: Sendable {
    /// Whether members are notified of this account's messages, its own token, and the tokens of others.
    var tokens = PushTokens()
    var answers = PushAnswers()
    var requests = PushRequests()

    /// The maximum delay of answers and notifications in milliseconds.
    static let maximumDelay: Int64 = 2000

    /// The time of the further timer, in Unix milliseconds.
    private var furtherTimer: Int64?

    /// Sets a further timer for pending answers and notifications, because theirs runs early by a clock that was set
    /// back meanwhile. There is at most one, so that timers do not multiply.
    mutating func setFurtherTimer(_ step: inout CoreStep) {
        if let time = self.furtherTimer, Self.isDue(time, step.nowMilliseconds) { self.furtherTimer = nil }
        let next = [self.answers.nextDue, self.requests.nextDue].compactMap { $0 }.min()
        guard self.furtherTimer == nil, let next else { return }
        self.furtherTimer = next
        step.effects.append(.wake(.push, atMilliseconds: next))
    }

    /// Whether the time of an answer or notification has come. One beyond the maximum delay is from before the clock was
    /// set back.
    static func isDue(_ time: Int64, _ nowMilliseconds: Int64) -> Bool {
        !(nowMilliseconds + 1...nowMilliseconds + self.maximumDelay).contains(time)
    }
}
