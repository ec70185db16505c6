import BotKit

/// A language model that is asked for an answer.
struct AgentAction: Sendable {
    /// Who is asked.
    enum Source: Sendable {
        /// An OpenAI-compatible chat completions endpoint.
        case endpoint(String, token: SettingText?, reachesPrivateAddresses: Bool)
        /// A program; `timeout` and `use` of its own do not count.
        case program(ProgramAction)
    }

    /// How often a request is made, the first time included.
    static let tries = 3

    var source: Source
    var model: String
    var system: Template?
    /// What the model is asked.
    var prompt: Template
    /// Messages of the chat before the one that is answered.
    var history: Int
    /// Of the answer.
    var maximumTokens: Int
    var temperature: Double?
    var perSender: TokenBudget?
    var perGroup: TokenBudget?
    /// What is said when a budget is used up.
    var exhausted: String
    /// For everything, tries and pauses included.
    var timeout: Duration
    var use: AnswerUse
}

/// So many tokens in a day (UTC) or an hour.
struct TokenBudget: Hashable, Sendable {
    var tokens: Int
    /// Seconds.
    var window: Int64
}
