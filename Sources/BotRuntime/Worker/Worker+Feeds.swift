import BotConfiguration
import BotDispatch
import Errors
import ExternalBots
import FeedRules
import Feeds
import Nostr
import PikaCore
import ServiceLifecycle

/// The feeds of the configuration.
extension Worker {
    /// Creates the plans of an account's feeds. Throws `WorkerError.Code.badSettings` when a secret cannot be loaded or
    /// used. Blocks on commands that print secrets.
    static func feeds(
        of account: AccountConfiguration, _ environment: [String: String]
    ) throws(WorkerError) -> [FeedPlan] {
        var plans: [FeedPlan] = []
        for feed in account.feeds {
            let loader = FeedSecrets(feed: feed.name, environment: environment)
            plans.append(
                FeedPlan(name: feed.name, source: try loader.source(feed.source), maximumBytes: feed.maximumBytes))
        }
        return plans
    }

    /// Returns the service of the feeds; nil without feeds. It ends before the dispatcher, so that accepted items still
    /// reach their handlers.
    func feedService(of core: AppCore, _ clock: SystemClock) -> FeedService? {
        guard !feeds.isEmpty else { return nil }
        let address = WebhookAddress(host: account.webhooks.host, port: account.webhooks.port)
        return FeedService(
            feeds, listen: address, sink: core, monitor: feedMonitor, clock: clock, logger: logger)
    }

    /// Adds the status of the feeds for operators.
    func withFeeds(_ status: JSONValue) -> JSONValue {
        guard var object = status.object, !feeds.isEmpty else { return status }
        let now = SystemClock().now
        object["feeds"] = .array(feedMonitor.statuses.map { $0.json(now: now) })
        return .object(object)
    }
}

/// Loads the secrets of one feed.
private struct FeedSecrets {
    let feed: String
    let environment: [String: String]

    func source(_ source: FeedConfiguration.Source) throws(WorkerError) -> FeedPlan.Source {
        switch source {
        case .webhook(let webhook):
            return .webhook(
                WebhookSettings(
                    authentication: try authentication(webhook.authentication), tolerance: webhook.tolerance,
                    rate: webhook.rate?.limit))
        case .webSocket(let socket):
            return .webSocket(
                WebSocketFeedSettings(
                    url: socket.url, headers: try headers(socket.headers), greetings: socket.send,
                    idField: socket.idField))
        case .poll(let poll):
            return .poll(PollSettings(url: poll.url, headers: try headers(poll.headers), every: poll.every))
        case .sse(let stream):
            return .sse(
                StreamSettings(url: stream.url, headers: try headers(stream.headers), idField: stream.idField))
        case .directory(let directory):
            return .directory(
                DirectorySettings(
                    path: absolute(directory.path), every: directory.every,
                    disposal: directory.then == .move ? .move : .delete))
        case .program(let program):
            var variables: [String: String] = [:]
            for (name, value) in program.environment { variables[name] = try text(value, "environment.\(name)") }
            return .program(
                ProgramSettings(
                    command: program.command, directory: absolute(program.directory),
                    environment: ProgramEnvironment.make(listed: variables, from: environment),
                    idField: program.idField))
        }
    }

    private func authentication(
        _ authentication: FeedConfiguration.Webhook.Authentication
    ) throws(WorkerError) -> WebhookSettings.Authentication {
        switch authentication {
        case .hmac(let references):
            var keys: [WebhookKey] = []
            for reference in references {
                guard let key = WebhookKey(try load(reference, "authentication.hmac")) else {
                    throw short("authentication.hmac", "secret")
                }
                keys.append(key)
            }
            return .hmac(keys)
        case .bearer(let reference):
            guard let token = WebhookToken(try load(reference, "authentication.bearer")) else {
                throw short("authentication.bearer", "token")
            }
            return .bearer(token)
        }
    }

    private func headers(_ values: [String: FeedConfiguration.Variable]) throws(WorkerError) -> [FeedHeader] {
        var headers: [FeedHeader] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            headers.append(FeedHeader(name: name, value: try text(value, "headers.\(name)")))
        }
        return headers
    }

    private func text(_ value: FeedConfiguration.Variable, _ place: String) throws(WorkerError) -> String {
        switch value {
        case .text(let text): return text
        case .secret(let reference): return try load(reference, place)
        }
    }

    private func load(_ reference: KeyReference, _ place: String) throws(WorkerError) -> String {
        do { return try reference.loadSecret(environment: environment) } catch {
            throw WorkerError(.badSettings, "feed \(feed): \(place): \(error.message)")
        }
    }

    private func short(_ place: String, _ what: String) -> WorkerError {
        WorkerError(
            .badSettings,
            "feed \(feed): \(place): expected a \(what) of at least 16 bytes, found a shorter one or invalid Base64 after "
                + "whsec_; write a longer one, such as the output of openssl rand -hex 32")
    }
}
