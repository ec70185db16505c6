import BotKit

/// One request to an agent.
struct AgentRun: Sendable {
    /// The maximum length of a message of the history; the rest is cut off.
    static let maximumMessageLength = 2_000
    private static let firstPause = Duration.seconds(1)
    /// Clients show a typing indicator for ten seconds.
    private static let typingPeriod = Duration.seconds(8)

    let agent: AgentAction
    let triggerContext: TriggerContext
    let values: TemplateValues
    let environment: ResponderEnvironment
    let context: BotContext
    /// The event as JSON, for programs.
    let document: JSONValue

    /// Returns the answer. Throws ``BotError``, and errors of the store of values.
    func answer() async throws -> String {
        let turns = try await turns()
        let accounts = accounts
        var stored: [String: String] = [:]
        for account in accounts { stored[account.key] = try await context.text(account.key) }
        let estimate = ChatCompletion.estimate(turns)
        let (reserve, overflow) = estimate.addingReportingOverflow(agent.maximumTokens)
        guard !overflow, environment.ledger.reserve(reserve, in: accounts, at: context.now, stored: stored) else {
            context.logger.notice("An agent's token budget is exhausted")
            return agent.exhausted
        }
        let outcome: ChatCompletion.Outcome
        do { outcome = try await whileTyping { try await ask(turns) } } catch {
            // A failed request may have been charged nevertheless.
            settle(reserve, used: estimate, accounts)
            throw error
        }
        settle(reserve, used: outcome.tokens ?? estimate + ChatCompletion.estimate(outcome.text), accounts)
        let text = Answer.text(outcome.text)
        guard !text.isEmpty else { throw BotError(.requestFailed, "the agent's answer is empty") }
        return text
    }

    // MARK: Budget

    private var accounts: [TokenLedger.Account] {
        var accounts: [TokenLedger.Account] = []
        if let budget = agent.perSender, let sender = triggerContext.sender {
            accounts.append(.init(key: "tokens/sender/\(sender.hex)/\(budget.window)", budget: budget))
        }
        if let budget = agent.perGroup {
            accounts += triggerContext.chats.map { .init(key: "tokens/group/\($0)/\(budget.window)", budget: budget) }
        }
        return accounts
    }

    private func settle(_ reserve: Int, used: Int, _ accounts: [TokenLedger.Account]) {
        environment.ledger.settle(reserve, used: used, in: accounts)
        for account in accounts { context.setText(environment.ledger.text(of: account), forKey: account.key) }
    }

    // MARK: Prompt

    private func turns() async throws -> [ChatCompletion.Turn] {
        let chatID = triggerContext.chats.first ?? ""
        var turns: [ChatCompletion.Turn] = []
        if let system = agent.system { turns.append(.init(role: .system, content: values.fill(system, in: chatID))) }
        turns += try await history(of: chatID)
        let prompt = values.fill(agent.prompt, in: chatID)
        turns.append(.init(role: .user, content: spoken(String(prompt.prefix(Expression.maximumLength)), in: chatID)))
        return turns
    }

    /// Returns the chat's messages before the one that is answered.
    private func history(of chatID: ChatID) async throws -> [ChatCompletion.Turn] {
        guard agent.history > 0, !chatID.rawValue.isEmpty else { return [] }
        let recent = try await context.services.chats.recentMessages(in: chatID, limit: agent.history + 1)
        return recent.filter { $0.kind == .chatMessage && $0.id != triggerContext.message?.id }.suffix(agent.history)
            .map {
                let text = String($0.content.prefix(Self.maximumMessageLength))
                let name = values.names.name(of: $0.sender, in: chatID)
                return $0.isOwn
                    ? .init(role: .assistant, content: text) : .init(role: .user, content: "\(name): \(text)")
            }
    }

    private func spoken(_ text: String, in chatID: ChatID) -> String {
        triggerContext.sender.map { "\(values.names.name(of: $0, in: chatID)): \(text)" } ?? text
    }

    // MARK: Request

    private func ask(_ turns: [ChatCompletion.Turn]) async throws -> ChatCompletion.Outcome {
        let request = ChatCompletion.request(turns, by: agent)
        switch agent.source {
        case .program(let program): return try await run(program, request)
        case .endpoint(let url, let token, let isPrivate):
            var headers = [("Content-Type", "application/json"), ("User-Agent", "pikabot-responder")]
            if let token {
                headers.append(("Authorization", "Bearer \(try await token.read(context.services.secrets))"))
            }
            return try await send(
                BotHTTPRequest(
                    url: url, headers: headers, body: request.json(), maximumBytes: Answer.maximumBytes,
                    reachesPrivateAddresses: isPrivate))
        }
    }

    private func run(_ program: ProgramAction, _ request: JSONValue) async throws -> ChatCompletion.Outcome {
        var request = request
        request.set("event", document)
        var program = try await program.program(input: request.json(), context.services.secrets)
        program.timeout = agent.timeout
        let output = try await context.services.programs.run(program)
        return ChatCompletion.outcome(of: output)
            ?? ChatCompletion.Outcome(text: String(decoding: output, as: UTF8.self), tokens: nil)
    }

    /// Sends a request, retrying temporary failures with increasing pauses until the deadline.
    private func send(_ request: BotHTTPRequest) async throws -> ChatCompletion.Outcome {
        let clock = context.services.clock
        let end = clock.nowMilliseconds + Int64(agent.timeout / .milliseconds(1))
        var pause = Self.firstPause
        var number = 1
        while true {
            var request = request
            request.timeout = .milliseconds(max(1, end - clock.nowMilliseconds))
            let attempt = await attempt(request)
            guard case .later(let failure, let wait) = attempt else { return try attempt.outcome() }
            let resume = clock.nowMilliseconds + Int64(max(pause, wait) / .milliseconds(1))
            guard number < AgentAction.tries, resume < end else { throw failure }
            try await clock.sleep(untilMilliseconds: resume)
            pause *= 2
            number += 1
        }
    }

    private enum Attempt {
        case done(ChatCompletion.Outcome)
        case failed(BotError)
        /// A temporary failure, which may be retried after a pause.
        case later(BotError, wait: Duration)

        func outcome() throws(BotError) -> ChatCompletion.Outcome {
            switch self {
            case .done(let outcome): return outcome
            case .failed(let error), .later(let error, _): throw error
            }
        }
    }

    private func attempt(_ request: BotHTTPRequest) async -> Attempt {
        do {
            let response = try await context.services.http.send(request)
            if (200..<300).contains(response.status) {
                guard let outcome = ChatCompletion.outcome(of: response.body) else {
                    return .failed(BotError(.requestFailed, "the agent's answer is not a chat completion"))
                }
                return .done(outcome)
            }
            let failure = BotError(.requestFailed, "the agent returned status \(response.status)")
            let mayRecover = response.status == 429 || response.status >= 500
            return mayRecover ? .later(failure, wait: response.retryAfter ?? .zero) : .failed(failure)
        } catch {
            return .later(error, wait: .zero)
        }
    }

    /// Shows a typing indicator while `body` runs.
    private func whileTyping<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                let clock = context.services.clock
                while !Task.isCancelled {
                    for chatID in triggerContext.chats { await context.services.chats.showTyping(in: chatID) }
                    try await clock.sleep(
                        untilMilliseconds: clock.nowMilliseconds + Int64(Self.typingPeriod / .milliseconds(1)))
                }
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() { if let value { return value } }
            throw CancellationError()
        }
    }
}
