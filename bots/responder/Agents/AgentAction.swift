import BotKit

/// A request to a language model.
struct AgentAction: Sendable {
    /// The source of the answer.
    enum Source: Sendable {
        /// An OpenAI-compatible chat completions endpoint.
        case endpoint(String, token: SettingText?, reachesPrivateAddresses: Bool)
        /// A program; its own `timeout` and `use` are ignored.
        case program(ProgramAction)
    }

    /// The maximum number of attempts of a request, including the first.
    static let tries = 3

    var source: Source
    var model: String
    var system: Template?
    /// The prompt of the model.
    var prompt: Template
    /// The number of earlier messages of the chat in the prompt.
    var history: Int
    /// The maximum number of tokens of the answer.
    var maximumTokens: Int
    var temperature: Double?
    var perSender: TokenBudget?
    var perGroup: TokenBudget?
    /// The text to send when a budget is exhausted.
    var exhausted: String
    /// The deadline of the whole request, including retries and pauses.
    var timeout: Duration
    var use: AnswerUse
}

/// A number of tokens per day (UTC) or hour.
struct TokenBudget: Hashable, Sendable {
    var tokens: Int
    /// The length of the day or hour in seconds.
    var window: Int64
}
