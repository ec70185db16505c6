import BotKit

/// A request to a chat completions endpoint, and how its answer is read.
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
        /// Prompt and answer together; nil if the endpoint did not say.
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

    /// Nil for anything but a completion with text in it.
    static func outcome(of bytes: [UInt8]) -> Outcome? {
        guard let document = try? JSONValue(json: bytes),
            let text = document["choices"]?.array?.first?["message"]?["content"]?.string
        else { return nil }
        let tokens = document["usage"]?["total_tokens"]?.integer.flatMap { Int(exactly: $0) }
        return Outcome(text: text, tokens: tokens.flatMap { $0 > 0 ? $0 : nil })
    }

    /// About how many tokens a text has; rather more than fewer for most languages.
    static func estimate(_ text: String) -> Int { text.utf8.count / 3 + 1 }

    static func estimate(_ turns: [Turn]) -> Int { turns.reduce(0) { $0 + estimate($1.content) + 4 } }
}
