import BotKit

/// An event to which a rule applies, in the terms of rules.
struct TriggerContext: Sendable, Hashable {
    /// The event type in documents for webhooks and programs.
    enum Cause: String, Sendable {
        case message, reaction, event, joined, left, removed, arrived, call, schedule, feed
    }

    var cause: Cause
    /// An id of the event that is the same in every process.
    var id: String
    /// The chats that receive the answers: the event's chat, or those of a rule whose trigger has no chat.
    var chats: [ChatID]
    /// The time of the event.
    var at: UnixTime
    var sender: PublicKey?
    var message: MessageEvent?
    var item: FeedItem?
    /// The command's name in lower case.
    var command: String?
    /// Everything after the command's name.
    var arguments = ""
    /// The words after the command's name, or the capture groups.
    var positionalValues: [String] = []
    var match = ""
    /// The members who joined, left or were removed.
    var subjects: [PublicKey] = []
}

extension Rule {
    /// Returns the event in the terms of rules; nil if the rule does not apply to it.
    func triggerContext(of event: CoreEvent, in scope: EventScope, _ report: (Expression.Outcome) -> Void)
        -> TriggerContext?
    {
        if case (.feed(let name), .feed(let item)) = (trigger, event.content), item.feed == name {
            // Its chats are those of the rule when it runs.
            return TriggerContext(
                cause: .feed, id: "feed-\(name)-\(item.id)", chats: [], at: event.receivedAt, item: item)
        }
        if let chats, !scope.isChat(among: chats) { return nil }
        let triggerContext: TriggerContext? =
            switch (trigger, event.content) {
            case (.message(let condition), .message(let message)):
                condition.triggerContext(of: message, event, in: scope, report)
            case (.membership(let membership), .commit(let commit)):
                commit.triggerContext(of: membership, event)
            case (.arrival, .joined(let join)):
                TriggerContext(
                    cause: .arrived, id: "joined-\(event.chatID)-\(join.epoch)", chats: [event.chatID],
                    at: event.receivedAt, sender: join.inviter)
            case (.call(let kind), .call(let call)) where kind.covers(call.signal.body):
                TriggerContext(
                    cause: .call, id: call.id.hex, chats: [event.chatID], at: event.receivedAt, sender: call.sender)
            default: nil
            }
        guard let triggerContext, only?.has(triggerContext.sender, of: event, in: scope) ?? true else { return nil }
        return triggerContext
    }
}

extension MessageCondition {
    fileprivate func triggerContext(
        of message: MessageEvent, _ event: CoreEvent, in scope: EventScope, _ report: (Expression.Outcome) -> Void
    ) -> TriggerContext? {
        guard kinds.contains(message.kind), isMet(by: message, in: scope) else { return nil }
        let cause: TriggerContext.Cause =
            switch message.kind {
            case .chatMessage: .message
            case .reaction: .reaction
            default: .event
            }
        var triggerContext = TriggerContext(
            cause: cause, id: message.id.hex, chats: [event.chatID], at: message.createdAt, sender: message.sender,
            message: message)
        if let command {
            guard let written = Command(message, in: scope, prefix: command.prefix),
                command.names.contains(written.name)
            else { return nil }
            triggerContext.command = written.name
            triggerContext.arguments = written.text
            triggerContext.positionalValues = written.arguments
        }
        guard let expression else { return triggerContext }
        let outcome = expression.search(message.content)
        guard case .found(let found) = outcome else {
            report(outcome)
            return nil
        }
        triggerContext.match = found.first ?? ""
        if command == nil { triggerContext.positionalValues = Array(found.dropFirst()) }
        return triggerContext
    }

    /// Checks the cheap conditions.
    private func isMet(by message: MessageEvent, in scope: EventScope) -> Bool {
        let content = message.content
        if let direct, direct == scope.isGroup { return false }
        if let mention, mention != EventFilter.mention.matches(message, in: scope) { return false }
        if let emoji, emoji != content { return false }
        if let equals, equals != content.lowercased() { return false }
        if let startsWith, !content.lowercased().hasPrefix(startsWith) { return false }
        if let contains, !content.lowercased().contains(contains) { return false }
        return true
    }
}

extension CommitEvent {
    fileprivate func triggerContext(of membership: Trigger.Membership, _ event: CoreEvent) -> TriggerContext? {
        guard !removedSelf else { return nil }
        let (subjects, cause): ([PublicKey], TriggerContext.Cause) =
            switch membership {
            case .joined: (added, .joined)
            case .left: (left, .left)
            case .removed: (removed.filter { !left.contains($0) }, .removed)
            }
        guard !subjects.isEmpty else { return nil }
        // Leaving is requested by the leaving member, even if another member commits it.
        return TriggerContext(
            cause: cause, id: id.hex, chats: [event.chatID], at: event.receivedAt,
            sender: membership == .left ? subjects.first : committer, subjects: subjects)
    }
}

extension Trigger.CallSignalKind {
    fileprivate func covers(_ body: CallSignal.Body) -> Bool {
        switch (self, body) {
        case (.any, _), (.invite, .invite), (.accept, .accept), (.reject, .reject), (.end, .end): true
        default: false
        }
    }
}

extension Audience {
    /// Returns whether an event's sender belongs to this audience, by the roles of the event's own epoch.
    func has(_ sender: PublicKey?, of event: CoreEvent, in scope: EventScope) -> Bool {
        guard let sender else { return false }
        return keys.contains(sender) || operators && scope.operators.contains(sender)
            || admins && isAdmin(sender, of: event, in: scope)
    }

    private func isAdmin(_ sender: PublicKey, of event: CoreEvent, in scope: EventScope) -> Bool {
        switch event.content {
        case .message(let message): EventFilter.fromAdmin.matches(message, in: scope)
        // A leaving member is not the author of the commit.
        case .commit(let commit): commit.committer == sender && EventFilter.fromAdmin.matches(commit, in: scope)
        case .call(let call): EventFilter.fromAdmin.matches(call, in: scope)
        case .joined(let join): EventFilter.fromAdmin.matches(join, in: scope)
        // No rule is about proposals, withdrawals or outcomes, and items of feeds have no author.
        case .proposal, .withdrawn, .outcome, .feed: false
        }
    }
}
