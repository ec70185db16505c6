import BotKit

/// Requests to a chat completions endpoint, and the parsing of its responses.
enum ChatCompletion {
    struct Turn: Hashable, Sendable {
        enum Role: String, Sendable {
            case system, user, assistant
        }

        var role: Role
        var content: String
    }

    struct Outcome: Hashable, Sendable {
        var text: String
        /// Prompt and answer together; nil if the endpoint did not report it.
        var tokens: Int?
    }

    static func request(_ turns: [Turn], by agent: AgentAction) -> JSONValue {
        var request: JSONValue = [
            "model": .string(agent.model),
            "messages": .array(
                turns.map { ["role": .string($0.role.rawValue), "content": .string($0.content)] }),
            "max_tokens": .integer(Int64(agent.maximumTokens)), "stream": false,
        ]
        if let temperature = agent.temperature { request.set("temperature", .number(temperature)) }
        return request
    }

    /// Parses a response; nil unless it is a completion with text.
    static func outcome(of bytes: [UInt8]) -> Outcome? {
        guard let document = try? JSONValue(json: bytes),
            let text = document["choices"]?.array?.first?["message"]?["content"]?.string
        else { return nil }
        let tokens = document["usage"]?["total_tokens"]?.integer.flatMap { Int(exactly: $0) }
        return Outcome(text: text, tokens: tokens.flatMap { $0 > 0 ? $0 : nil })
    }

    /// Returns an estimate of a text's tokens: one per three bytes, which is too high for most languages.
    static func estimate(_ text: String) -> Int { text.utf8.count / 3 + 1 }

    static func estimate(_ turns: [Turn]) -> Int { turns.reduce(0) { $0 + estimate($1.content) + 4 } }
}
