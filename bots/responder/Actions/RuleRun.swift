import BotKit

/// One run of a rule for one event.
struct RuleRun {
    let rule: Rule
    let triggerContext: TriggerContext
    let environment: ResponderEnvironment
    let context: BotContext
    private var values: TemplateValues

    init(_ rule: Rule, _ triggerContext: TriggerContext, environment: ResponderEnvironment, context: BotContext) {
        self.rule = rule
        self.triggerContext = triggerContext
        self.environment = environment
        self.context = context
        values = TemplateValues(
            triggerContext: triggerContext,
            names: ChatNames(snapshot: context.snapshot, accountName: context.scope.accountName),
            now: context.now, timeZone: environment.timeZone)
    }

    /// Performs the rule's actions in order, up to the first that fails: then the rule's failure text is sent.
    ///
    /// Throws if the store of values fails, and if the task was cancelled.
    mutating func perform() async throws {
        guard try await mayRun() else { return }
        for (index, action) in rule.actions.enumerated() {
            do {
                try await perform(action, index)
            } catch let error as BotError {
                try Task.checkCancellation()
                context.logger.warning(
                    "Rule action failed",
                    metadata: ["rule": "\(rule.name)", "action": "\(index + 1)", "error": "\(error)"])
                context.recordFailure(error)
                if let failure = rule.failure { deliver(failure, .reply) }
                return
            }
        }
    }

    private mutating func perform(_ action: Action, _ index: Int) async throws {
        switch action {
        case .reply(let texts): deliver(texts, to: nil, .reply)
        case .send(let texts, let chats): deliver(texts, to: chats.isEmpty ? nil : chats, .send)
        case .react(let emojis): if let emoji = environment.choose(emojis) { try context.react(emoji) }
        case .media(let media): try await send(media)
        case .webhook(let webhook): applyAnswer(try await call(webhook, index), webhook.use)
        case .program(let program): applyAnswer(try await run(program, index), program.use)
        case .agent(let agent): applyAnswer(try await ask(agent, index), agent.use)
        }
    }

    // MARK: Messages

    private func deliver(_ texts: [Template], to chats: [ChatID]?, _ use: AnswerUse) {
        guard let template = environment.choose(texts) else { return }
        for chatID in chats ?? triggerContext.chats {
            sendText(values.fill(template, in: chatID), in: chatID, isReply: use == .reply && chats == nil)
        }
    }

    private func deliver(_ text: String, _ use: AnswerUse) {
        for chatID in triggerContext.chats { sendText(text, in: chatID, isReply: use == .reply) }
    }

    private func sendText(_ text: String, in chatID: ChatID, isReply: Bool) {
        let text = Answer.text(text)
        guard !text.isEmpty else { return }
        if isReply, triggerContext.message != nil { context.reply(text) } else { context.send(text, to: chatID) }
    }

    private mutating func applyAnswer(_ answer: String, _ use: AnswerUse) {
        values.answer = answer
        if use != .keep { deliver(answer, use) }
    }

    private func send(_ media: MediaAction) async throws(BotError) {
        let bytes = try await context.services.files.read(media.file, maximumBytes: MediaAction.maximumBytes)
        let file = OutgoingFile(bytes: bytes, filename: media.name, mediaType: media.type)
        for chatID in triggerContext.chats {
            let caption = media.caption.map { values.fill($0, in: chatID) } ?? ""
            context.send(media: [file], caption: caption, to: chatID)
        }
    }

    // MARK: Requests

    private func call(_ webhook: WebhookAction, _ index: Int) async throws(BotError) -> String {
        let chatID = triggerContext.chats.first ?? ""
        var request = BotHTTPRequest(
            method: webhook.method,
            url: try webhook.url.filledAddress { values.value(of: $0, in: chatID) },
            timeout: webhook.timeout, maximumBytes: Answer.maximumBytes,
            reachesPrivateAddresses: webhook.reachesPrivateAddresses)
        request.headers = [("User-Agent", "pikabot-responder"), ("Idempotency-Key", delivery(index))]
        for header in webhook.headers {
            request.headers.append((header.name, try await header.value.read(context.services.secrets)))
        }
        if WebhookAction.methodsWithBody.contains(webhook.method) {
            request.headers.append(("Content-Type", "application/json"))
            request.body = document(index).json()
        }
        let response = try await context.services.http.send(request)
        guard (200..<300).contains(response.status) else {
            throw BotError(.requestFailed, "the webhook returned status \(response.status)")
        }
        return Answer.text(response.body)
    }

    private func run(_ program: ProgramAction, _ index: Int) async throws(BotError) -> String {
        let program = try await program.program(input: document(index).json(), context.services.secrets)
        return Answer.text(try await context.services.programs.run(program))
    }

    private func ask(_ agent: AgentAction, _ index: Int) async throws -> String {
        try await AgentRun(
            agent: agent, triggerContext: triggerContext, values: values, environment: environment, context: context,
            document: document(index)
        ).answer()
    }

    /// Returns an id of the request that is the same when the rule runs again after a crash.
    private func delivery(_ index: Int) -> String { "\(triggerContext.id)/\(rule.name)/\(index)" }

    private func document(_ index: Int) -> JSONValue {
        EventDocument.json(
            of: triggerContext, rule: rule.name, delivery: delivery(index), answer: values.answer, names: values.names)
    }

    // MARK: Cooldown

    private static func cooldownKey(_ rule: Rule, _ chat: String) -> String { "cooldown/\(rule.name)/\(chat)" }

    /// Returns whether the rule may run, and starts its cooldown.
    private func mayRun() async throws -> Bool {
        guard let cooldown = rule.cooldown, let chatID = triggerContext.chats.first else { return true }
        let key = Self.cooldownKey(rule, chatID.rawValue)
        var stored = try await context.text(key)
        if stored == nil, let chat = values.names.summary(of: chatID), !chat.sharesNostrGroupID {
            // Earlier versions stored it under this key.
            let earlier = Self.cooldownKey(rule, chat.nostrGroupID)
            stored = try await context.text(earlier)
            if stored != nil { context.setText(nil, forKey: earlier) }
        }
        var cooldowns = Cooldowns(text: stored ?? "")
        let who = cooldown.per == .sender ? triggerContext.sender?.hex ?? "" : "chat"
        guard cooldowns.begin(who, at: context.now, seconds: cooldown.seconds) else { return false }
        context.setText(cooldowns.text, forKey: key)
        return true
    }
}
