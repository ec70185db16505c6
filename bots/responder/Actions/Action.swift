import BotKit

/// One thing that a rule does.
enum Action: Sendable {
    /// Answers the message; says it in the chat where there is none. One of the texts, by chance.
    case reply([Template])
    /// Says one of the texts, by chance, in other chats or, if there are none here, in the chat.
    case send([Template], to: [String])
    /// One of them, by chance.
    case react([String])
    case media(MediaAction)
    case webhook(WebhookAction)
    case program(ProgramAction)
    case agent(AgentAction)
}

/// What becomes of the answer of a webhook, a program or an agent.
enum AnswerUse: String, Sendable, CaseIterable {
    /// It answers the message.
    case reply
    /// It is said in the chat.
    case send
    /// It is there for later actions of the rule, as `{answer}`.
    case keep
}

/// A value in settings that is there, or named by a reference.
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

/// A file that is sent.
struct MediaAction: Sendable {
    static let maximumBytes = 16 << 20

    var file: String
    var name: String
    var type: String
    var caption: Template?
}

/// A request to somebody's server.
struct WebhookAction: Sendable {
    static let methodsWithBody: Set<String> = ["POST", "PUT", "PATCH"]

    var url: Template
    var method: String
    var headers: [(name: String, value: SettingText)]
    var timeout: Duration
    var reachesPrivateAddresses: Bool
    var use: AnswerUse
}

/// A program that is run.
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

/// What a webhook, a program or an agent says, made fit for a chat.
enum Answer {
    static let maximumBytes = 256 << 10
    /// Of what is said in a chat; the rest is cut off.
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
