import BotDispatch
import BotKit

extension FeedConfiguration {
    /// The feed as YAML, with all defaults and without secrets.
    var configurationText: String {
        "{ name: \(yamlText(name)), \(source.kind): { \(source.members.joined(separator: ", ")) }, "
            + "maximumBytes: \(maximumBytes) }"
    }
}

extension FeedConfiguration.Source {
    /// The key of the kind.
    package var kind: String {
        switch self {
        case .webhook: "webhook"
        case .webSocket: "websocket"
        case .poll: "poll"
        case .sse: "sse"
        case .directory: "directory"
        case .program: "program"
        }
    }

    fileprivate var members: [String] {
        switch self {
        case .webhook(let webhook):
            return [
                "authentication: { \(webhook.authentication.configurationText) }",
                "tolerance: \(webhook.tolerance.configurationText)", "rate: \(rateText(webhook.rate))",
            ]
        case .webSocket(let socket):
            return ["url: \(yamlText(socket.url))", table("headers", socket.headers), "send: \(yamlList(socket.send))"]
                + idField(socket.idField)
        case .poll(let poll):
            return [
                "url: \(yamlText(poll.url))", table("headers", poll.headers), "every: \(poll.every.configurationText)",
            ]
        case .sse(let stream):
            return ["url: \(yamlText(stream.url))", table("headers", stream.headers)] + idField(stream.idField)
        case .directory(let directory):
            return [
                "path: \(yamlText(directory.path))", "every: \(directory.every.configurationText)",
                "then: \(directory.then.rawValue)",
            ]
        case .program(let program):
            return [
                "command: \(yamlList(program.command))", "directory: \(yamlText(program.directory))",
                table("environment", program.environment),
            ] + idField(program.idField)
        }
    }

    private func idField(_ name: String?) -> [String] { name.map { ["idField: \(yamlText($0))"] } ?? [] }

    private func table(_ name: String, _ values: [String: FeedConfiguration.Variable]) -> String {
        let pairs = values.sorted { $0.key < $1.key }.map { "\(yamlText($0.key)): \($0.value.configurationText)" }
        return pairs.isEmpty ? "\(name): {}" : "\(name): { \(pairs.joined(separator: ", ")) }"
    }
}

extension FeedConfiguration.Webhook.Authentication {
    fileprivate var configurationText: String {
        switch self {
        case .hmac(let keys): "hmac: [\(keys.map { "{ \($0.redactedDescription) }" }.joined(separator: ", "))]"
        case .bearer(let token): "bearer: { \(token.redactedDescription) }"
        }
    }
}

/// ``configurationText(_:)``, outside of types with a property of that name.
private func rateText(_ rate: Rate?) -> String { configurationText(rate) }
