import BotKit

/// An action of a rule.
enum Action: Sendable {
    /// Replies to the message with one of the texts, chosen at random; sends it to the chat if there is no message.
    case reply([Template])
    /// Sends one of the texts, chosen at random, to other chats or, if none are given, to the chat of the event.
    case send([Template], to: [ChatID])
    /// Reacts with one of the emojis, chosen at random.
    case react([String])
    case media(MediaAction)
    case webhook(WebhookAction)
    case program(ProgramAction)
    case agent(AgentAction)
}

/// The destination of the answer of a webhook, a program or an agent.
enum AnswerUse: String, Sendable, CaseIterable {
    /// Replies to the message with it.
    case reply
    /// Sends it to the chat.
    case send
    /// Keeps it for later actions of the rule, as `{answer}`.
    case keep
}

/// A value in settings, given literally or as a reference to a secret.
enum SettingText: Sendable, Hashable {
    case plain(String)
    case secret(BotSettings)

    func read(_ secrets: any BotSecrets) async throws(BotError) -> String {
        switch self {
        case .plain(let text): text
        case .secret(let reference): try await secrets.read(reference)
        }
    }
}

/// A file to send.
struct MediaAction: Sendable {
    static let maximumBytes = 16 << 20

    var file: String
    var name: String
    var type: String
    var caption: Template?
}

/// An HTTP request.
struct WebhookAction: Sendable {
    static let methodsWithBody: Set<String> = ["POST", "PUT", "PATCH"]

    var url: Template
    var method: String
    var headers: [(name: String, value: SettingText)]
    var timeout: Duration
    var reachesPrivateAddresses: Bool
    var use: AnswerUse
}

/// A program to run.
struct ProgramAction: Sendable {
    var command: [String]
    var environment: [String: SettingText]
    var timeout: Duration
    var use: AnswerUse

    func program(input: [UInt8], _ secrets: any BotSecrets) async throws(BotError) -> BotProgramRun {
        var values: [String: String] = [:]
        for (name, value) in environment { values[name] = try await value.read(secrets) }
        return BotProgramRun(
            command: command, environment: values, input: input, timeout: timeout, maximumBytes: Answer.maximumBytes)
    }
}

/// The answer of a webhook, a program or an agent, prepared for a chat.
enum Answer {
    static let maximumBytes = 256 << 10
    /// The maximum length of a message; the rest is cut off.
    static let maximumCharacters = 8_000

    static func text(_ bytes: [UInt8]) -> String { text(String(decoding: bytes, as: UTF8.self)) }

    static func text(_ text: String) -> String {
        let inner = text.drop(while: \.isWhitespace)
        let end = inner.lastIndex { !$0.isWhitespace }.map(inner.index(after:)) ?? inner.startIndex
        let trimmed = inner[..<end]
        guard trimmed.count > maximumCharacters else { return String(trimmed) }
        return trimmed.prefix(maximumCharacters - 1) + "…"
    }
}
