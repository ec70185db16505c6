import BotKit

extension ResponderSettings {
    /// Takes what the rule at an index applies to. When that rule says `stop: false`, the rules below get the event too,
    /// up to the first that applies and stops.
    func handler(from index: Int) -> Handler {
        let rule = rules[index]
        if case .schedule(let schedule) = rule.trigger { return handler(for: rule, schedule) }
        var handler = Handler(label: "rule \(rule.name)") { event, scope in
            let applied = applied(to: event, in: scope, from: index)
            guard !applied.isEmpty else { return nil }
            return { context in
                for (rule, occasion) in applied {
                    var run = RuleRun(rule, occasion, house: house, context: context)
                    try await run.perform()
                }
            }
        }
        handler.command = rule.usage
        return handler
    }

    /// Runs once when it is due, and says what it says in all of the rule's chats. An agent is asked for each chat by
    /// itself: what one chat has said is nothing for another.
    private func handler(for rule: Rule, _ schedule: Schedule) -> Handler {
        OnSchedule(rule.name, schedule) { context in
            guard case .schedule(let due) = context.trigger else { return }
            let chats = context.snapshot.chatList.filter { chat in
                chat.isActive && (rule.chats.map { context.snapshot.matches($0, chat) } ?? true)
            }.map(\.chatID)
            let id = "schedule-\(due.name)-\(due.dueMilliseconds)"
            for chats in rule.asksAgent ? chats.map({ [$0] }) : [chats] where !chats.isEmpty {
                let occasion = Occasion(
                    cause: .schedule, id: rule.asksAgent ? "\(id)-\(chats[0])" : id, chats: chats,
                    at: due.dueMilliseconds / 1000)
                var run = RuleRun(rule, occasion, house: house, context: context)
                try await run.perform()
            }
        }.handler
    }

    /// Nothing if the first of the rules does not apply.
    private func applied(
        to event: CoreEvent, in scope: EventScope, from first: Int
    ) -> [(rule: Rule, occasion: Occasion)] {
        var applied: [(Rule, Occasion)] = []
        for rule in rules[first...] {
            if let occasion = rule.occasion(of: event, in: scope, { house.report($0, of: rule.name) }) {
                applied.append((rule, occasion))
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

    /// How the rule's command is used, for the list of commands; nil if it has none.
    fileprivate var usage: CommandUsage? {
        guard case .message(let condition) = trigger, let command = condition.command, let name = command.names.first
        else { return nil }
        let help = command.help.isEmpty ? nil : command.help
        return OnCommand(name, help: help, prefix: command.prefix) { _, _ in }.handler.command
    }
}
