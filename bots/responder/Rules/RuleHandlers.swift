import BotKit

extension ResponderSettings {
    /// Returns the handler of the rule at an index. After a rule with `stop: false`, the rules below receive the event
    /// too, up to the first that applies and stops.
    func handler(from index: Int) -> Handler {
        let rule = rules[index]
        if case .schedule(let schedule) = rule.trigger { return handler(for: rule, schedule) }
        var handler = Handler(label: "rule \(rule.name)") { event, scope in
            let applied = applied(to: event, in: scope, from: index)
            guard !applied.isEmpty else { return nil }
            return { context in
                for (rule, triggerContext) in applied {
                    guard triggerContext.item == nil else {
                        try await run(rule, triggerContext, inItsChatsOf: context)
                        continue
                    }
                    var run = RuleRun(rule, triggerContext, environment: environment, context: context)
                    try await run.perform()
                }
            }
        }
        handler.command = rule.usage
        return handler
    }

    /// Returns the handler of a scheduled rule, which runs once when due.
    private func handler(for rule: Rule, _ schedule: Schedule) -> Handler {
        OnSchedule(rule.name, schedule) { context in
            guard case .schedule(let due) = context.trigger else { return }
            let triggerContext = TriggerContext(
                cause: .schedule, id: "schedule-\(due.name)-\(due.dueMilliseconds)", chats: [],
                at: UnixTime(milliseconds: due.dueMilliseconds))
            try await run(rule, triggerContext, inItsChatsOf: context)
        }.handler
    }

    /// Runs a rule whose trigger has no chat, and sends its texts to all of the rule's chats. An agent is asked
    /// separately for each chat, since one chat's content must not reach another.
    private func run(_ rule: Rule, _ trigger: TriggerContext, inItsChatsOf context: BotContext) async throws {
        let chats = context.snapshot.chatList.filter { chat in
            chat.isActive && (rule.chats.map { context.snapshot.matches($0, chat) } ?? true)
        }.map(\.chatID)
        for chats in rule.asksAgent ? chats.map({ [$0] }) : [chats] where !chats.isEmpty {
            var triggerContext = trigger
            triggerContext.chats = chats
            if rule.asksAgent { triggerContext.id += "-\(chats[0])" }
            var run = RuleRun(rule, triggerContext, environment: environment, context: context)
            try await run.perform()
        }
    }

    /// Returns the rules that apply from an index on; empty if the first one does not.
    private func applied(
        to event: CoreEvent, in scope: EventScope, from first: Int
    ) -> [(rule: Rule, triggerContext: TriggerContext)] {
        var applied: [(Rule, TriggerContext)] = []
        for rule in rules[first...] {
            if let triggerContext = rule.triggerContext(of: event, in: scope, { environment.report($0, of: rule.name) })
            {
                applied.append((rule, triggerContext))
                if rule.stops { return applied }
            } else if applied.isEmpty {
                return []
            }
        }
        return applied
    }
}

extension Rule {
    fileprivate var asksAgent: Bool { actions.contains { if case .agent = $0 { true } else { false } } }

    /// The usage of the rule's command, for the list of commands; nil if it has none.
    fileprivate var usage: CommandUsage? {
        guard case .message(let condition) = trigger, let command = condition.command, let name = command.names.first
        else { return nil }
        let help = command.help.isEmpty ? nil : command.help
        return OnCommand(name, help: help, prefix: command.prefix) { _, _ in }.handler.command
    }
}
