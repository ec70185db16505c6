import BotKit

/// Checks that messages are answered, or ignored, as expected.
extension CanarySender {
    /// After this number of missed intervals the time of an answer is unknown, so the check is dropped.
    private static let staleAfter: Int64 = 3

    /// Evaluates the pending check of each group, and starts the next one.
    func runChecks(_ context: BotContext) async throws {
        for group in settings.groups where !group.checks.isEmpty {
            guard let chat = try await chat(of: group, context), chat.isActive else { continue }
            let asked = try await context.stored(AskedCheck.self, .asked(group))
            if let asked { try await settle(asked, group, context) }
            let check = Self.next(after: asked?.name, of: group.checks)
            try context.store(AskedCheck(name: check.name, at: context.nowMilliseconds), .asked(group))
            context.send(check.text, to: chat.chatID)
        }
    }

    private static func next(after name: String?, of checks: [AnswerCheck]) -> AnswerCheck {
        let index = checks.firstIndex { $0.name == name }.map { ($0 + 1) % checks.count } ?? 0
        return checks[index]
    }

    private func settle(_ asked: AskedCheck, _ group: GroupSettings, _ context: BotContext) async throws {
        let absence = Int64(settings.checksEvery / .milliseconds(1)).multipliedReportingOverflow(by: Self.staleAfter)
        guard let check = group.checks.first(where: { $0.name == asked.name }), !absence.overflow,
            (0...absence.partialValue).contains(context.nowMilliseconds - asked.at)
        else { return }
        let noticed = try await context.stored(NoticedAnswer.self, .noticed(group))
        let verdict = check.verdict(noticed, of: asked)
        var verdicts = try await context.stored([String: CheckVerdict].self, .verdicts(group)) ?? [:]
        verdicts = verdicts.filter { entry in group.checks.contains { $0.name == entry.key } }
        verdicts[check.name] = verdict
        try context.store(verdicts, .verdicts(group))
        let labels = ["target": group.name, "check": check.name]
        let result = ["result": verdict.isPassed ? "passed" : "failed"]
        context.services.metrics.add(
            MetricSample("group_canary_checks_total", labels.merging(result) { _, new in new }, 1))
    }

    /// Records a message if it concerns the pending check.
    func notice(_ message: MessageEvent, _ context: BotContext) async throws {
        guard let group = try await group(of: context.chatID, context),
            let asked = try await context.stored(AskedCheck.self, .asked(group)),
            let check = group.checks.first(where: { $0.name == asked.name }),
            check.matches(message.content, from: message.sender)
        else { return }
        let after = context.nowMilliseconds - asked.at
        guard (0...Int64(check.time / .milliseconds(1))).contains(after),
            try await context.stored(NoticedAnswer.self, .noticed(group))?.check != asked
        else { return }
        try context.store(NoticedAnswer(check: asked, afterMilliseconds: after), .noticed(group))
    }
}
