import BotKit

extension ResponderSettings {
    /// Takes what the rule at an index applies to. When that rule says `stop: false`, the rules below get the event too,
    /// up to the first that applies and stops.
    func handler(from index: Int) -> Handler {
        Handler(label: "rule \(rules[index].name)") { event, scope in
            let applied = applied(to: event, in: scope, from: index)
            guard !applied.isEmpty else { return nil }
            return { context in
                for (rule, occasion) in applied {
                    var run = RuleRun(rule, occasion, house: house, context: context)
                    try await run.perform()
                }
            }
        }
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
