import BotKit

extension SettingsReader {
    private static let exhausted = "I have reached my usage limit. Please try again later."

    func agent(_ key: String, _ scope: TextScope?, _ defaults: RuleDefaults) -> AgentAction? {
        guard let reader = object(key) else { return nil }
        let source = reader.agentSource(defaults)
        let model = reader.string("model") ?? ""
        if model.isEmpty, reader.has("endpoint") { _ = reader.string("model", required: true) }
        let prompt = reader.template("prompt", scope) ?? TextScope.standardPrompt(scope)
        if prompt == nil, !reader.has("prompt") {
            reader.fail(
                nil, expected: "the key prompt", found: "none",
                fix: "add prompt: TEXT; this trigger has no message text")
        }
        let maximumTokens = reader.int("maximumTokens", in: 1...100_000, default: 512)
        let budget = reader.has("budget") ? reader.object("budget") : nil
        let perSender = budget?.tokenBudget("perSender", atLeast: maximumTokens)
        let perGroup = budget?.tokenBudget("perGroup", atLeast: maximumTokens)
        let action = AgentAction(
            source: source ?? .endpoint("", token: nil, reachesPrivateAddresses: false), model: model,
            system: reader.template("system", scope), prompt: prompt ?? Template(parts: []),
            history: reader.int("history", in: 0...200, default: 0), maximumTokens: maximumTokens,
            temperature: reader.double("temperature", in: 0...2), perSender: perSender, perGroup: perGroup,
            exhausted: reader.string("exhausted", default: Self.exhausted),
            timeout: reader.duration("timeout", default: .seconds(25)), use: reader.answerUse("answer", scope))
        return source == nil || prompt == nil ? nil : action
    }

    private func agentSource(_ defaults: RuleDefaults) -> AgentAction.Source? {
        let endpoint = string("endpoint")
        let token = secret("token")
        let command = strings("command")
        let environment = settingTexts("environment")
        guard has("endpoint") != has("command") else {
            fail(
                nil, expected: "endpoint: or command:", found: has("command") ? "both" : "neither",
                fix: "write endpoint: https://HOST/v1/chat/completions, or command: [program, argument]")
            return nil
        }
        if let command, !command.isEmpty {
            return .program(
                ProgramAction(command: command, environment: environment, timeout: .seconds(25), use: .keep))
        }
        guard let endpoint, let entry = host(of: endpoint, "endpoint", defaults) else { return nil }
        return .endpoint(endpoint, token: token, reachesPrivateAddresses: entry.isPrivate)
    }

    /// Parses `20000/day` or `2000/h`.
    private func tokenBudget(_ key: String, atLeast least: Int) -> TokenBudget? {
        parsed(
            key, expected: "at least \(least) tokens (maximumTokens) a day or an hour",
            fix: "write a number and /day or /h, such as 20000/day"
        ) { value in
            let parts = value.stringValue?.split(separator: "/", omittingEmptySubsequences: false) ?? []
            guard parts.count == 2, let tokens = Int(parts[0]), (least...1_000_000_000).contains(tokens) else {
                return nil
            }
            switch parts[1] {
            case "day": return TokenBudget(tokens: tokens, window: 86_400)
            case "h": return TokenBudget(tokens: tokens, window: 3_600)
            default: return nil
            }
        }
    }
}

extension TextScope {
    /// Returns the default prompt: the text after the command, or the message.
    fileprivate static func standardPrompt(_ scope: TextScope?) -> Template? {
        guard let scope else { return Template(parts: []) }
        if scope.placeholders.contains(.args) { return try? Template("{args}") }
        return scope.placeholders.contains(.text) ? try? Template("{text}") : nil
    }
}
