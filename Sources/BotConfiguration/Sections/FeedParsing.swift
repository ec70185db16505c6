import BotDispatch
import BotKit
import Nostr
import PikaCore
import Yams

/// The feeds of an account.
extension ConfigurationParser {
    func feeds(_ value: ConfigurationValue) -> [FeedConfiguration]? {
        let fix =
            "write feeds: and below it - name: … and one of \(ConfigurationSchema.feedKinds.joined(separator: ", "))"
        guard let items = value.list(of: "feeds", fix: fix) else { return nil }
        if items.count > FeedConfiguration.most {
            value.fail(
                expected: "at most \(FeedConfiguration.most) feeds", found: "\(items.count)",
                fix: "remove some, or use another account")
        }
        var names: Set<String> = []
        return items.compactMap { feed($0, &names) }
    }

    /// Parses the address of the webhook listener.
    func webhookAddress(_ value: ConfigurationValue) -> ListenAddress? {
        value.parsed(
            ListenAddress.init(configurationText:), expected: "HOST:PORT",
            fix: "write for example 127.0.0.1:8790 or [::1]:8790")
    }

    private func feed(_ value: ConfigurationValue, _ names: inout Set<String>) -> FeedConfiguration? {
        let keys = value.node.mapping?.keys.compactMap(\.string) ?? []
        let kinds = ConfigurationSchema.feedKinds.filter(keys.contains)
        guard kinds.count == 1, let place = ConfigurationSchema.feedKinds.firstIndex(of: kinds[0]) else {
            value.fail(
                expected: "one of the keys \(ConfigurationSchema.feedKinds.joined(separator: ", "))",
                found: kinds.isEmpty ? nil : kinds.joined(separator: " and "),
                fix: kinds.isEmpty ? "add one of them, such as webhook: { … }" : "write a feed of its own for each")
            return nil
        }
        guard let fields = value.fields(ConfigurationSchema.feeds[place]) else { return nil }
        let name = fields.required("name").flatMap { feedName($0, &names) }
        let source = fields.required(kinds[0]).flatMap { feedSource($0, kind: kinds[0]) }
        let limit = fields.optional("maximumBytes").map { $0.integer(in: 1...FeedConfiguration.mostBytes) }
        guard let name, let source else { return nil }
        return FeedConfiguration(
            name: name, source: source, maximumBytes: (limit ?? nil) ?? FeedConfiguration.standardMaximumBytes)
    }

    private func feedName(_ value: ConfigurationValue, _ names: inout Set<String>) -> String? {
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-_")
        let name = value.parsed(
            { (1...32).contains($0.count) && $0.allSatisfy(letters.contains) ? $0 : nil },
            expected: "1 to 32 characters from a-z, 0-9, - and _", fix: "write for example name: orders")
        guard let name else { return nil }
        if !names.insert(name).inserted {
            value.fail(expected: "a name that no other feed of the account has", fix: "rename one of the two")
        }
        return name
    }

    private func feedSource(_ value: ConfigurationValue, kind: String) -> FeedConfiguration.Source? {
        switch kind {
        case "webhook": webhook(value).map { .webhook($0) }
        case "websocket": webSocket(value).map { .webSocket($0) }
        case "poll": poll(value).map { .poll($0) }
        case "sse": eventStream(value).map { .sse($0) }
        case "directory": directory(value).map { .directory($0) }
        default: program(value).map { .program($0) }
        }
    }

    // MARK: Kinds

    private func webhook(_ value: ConfigurationValue) -> FeedConfiguration.Webhook? {
        guard let fields = value.fields(ConfigurationSchema.webhook) else { return nil }
        let authentication = fields.required("authentication").flatMap(authentication)
        let tolerance = fields.optional("tolerance")?.duration(upTo: .seconds(3_600))
        let rate = fields.optional("rate")?.rate()
        guard let authentication else { return nil }
        var webhook = FeedConfiguration.Webhook(authentication: authentication)
        webhook.tolerance = tolerance ?? webhook.tolerance
        if let rate { webhook.rate = rate.value }
        return webhook
    }

    private func authentication(_ value: ConfigurationValue) -> FeedConfiguration.Webhook.Authentication? {
        guard let fields = value.fields(ConfigurationSchema.webhookAuthentication) else { return nil }
        let (hmac, bearer) = (fields.optional("hmac"), fields.optional("bearer"))
        let fix = "write for example authentication: { hmac: [{ file: secrets/orders.secret }] }"
        let keys = hmac?.list(of: "references to secrets", atLeast: "at least one reference", fix: fix)?
            .compactMap { reference($0, fix: "write for example { file: secrets/orders.secret }") }
        let token = bearer.flatMap { reference($0, fix: "write for example bearer: { file: secrets/orders.token }") }
        switch (hmac, bearer) {
        case (.some, nil): return keys.flatMap { $0.isEmpty ? nil : .hmac($0) }
        case (nil, .some): return token.map { .bearer($0) }
        case (.some, .some), (nil, nil):
            // An unknown key has been reported already.
            if hmac != nil || fields.keys.isEmpty {
                value.fail(
                    expected: "exactly one of hmac, bearer", found: hmac == nil ? "none of them" : "both", fix: fix)
            }
            return nil
        }
    }

    private func webSocket(_ value: ConfigurationValue) -> FeedConfiguration.WebSocket? {
        guard let fields = value.fields(ConfigurationSchema.webSocket) else { return nil }
        let url = fields.required("url")?.parsed(
            { text in (try? RelayURL(text)).map { _ in text } }, expected: "a WebSocket address",
            fix: "write a ws:// or wss:// address, such as wss://events.example/stream")
        let headers = fields.optional("headers").map(headers) ?? [:]
        let fix = "write for example send: ['{\"subscribe\":\"all\"}']"
        let send = fields.optional("send")?.list(of: "messages", fix: fix)?
            .compactMap { $0.parsed({ $0 }, expected: "a string", fix: fix) }
        let idField = idField(fields)
        return url.map { FeedConfiguration.WebSocket(url: $0, headers: headers, send: send ?? [], idField: idField) }
    }

    private func poll(_ value: ConfigurationValue) -> FeedConfiguration.Poll? {
        guard let fields = value.fields(ConfigurationSchema.poll) else { return nil }
        let url = fields.required("url").flatMap(httpAddress)
        let headers = fields.optional("headers").map(headers) ?? [:]
        let every = fields.optional("every").flatMap(interval)
        guard let url else { return nil }
        var poll = FeedConfiguration.Poll(url: url, headers: headers)
        poll.every = every ?? poll.every
        return poll
    }

    private func eventStream(_ value: ConfigurationValue) -> FeedConfiguration.EventStream? {
        guard let fields = value.fields(ConfigurationSchema.eventStream) else { return nil }
        let url = fields.required("url").flatMap(httpAddress)
        let headers = fields.optional("headers").map(headers) ?? [:]
        let idField = idField(fields)
        return url.map { FeedConfiguration.EventStream(url: $0, headers: headers, idField: idField) }
    }

    private func directory(_ value: ConfigurationValue) -> FeedConfiguration.Directory? {
        guard let fields = value.fields(ConfigurationSchema.directory) else { return nil }
        let path = fields.required("path")?.string(expected: "a path", fix: "write for example path: inbox")
        let every = fields.optional("every").flatMap(interval)
        let then = fields.optional("then")?.choice(of: FeedConfiguration.Directory.Disposal.self)
        guard let path else { return nil }
        var directory = FeedConfiguration.Directory(path: resolved(path))
        directory.every = every ?? directory.every
        directory.then = then ?? directory.then
        return directory
    }

    private func program(_ value: ConfigurationValue) -> FeedConfiguration.Program? {
        guard let fields = value.fields(ConfigurationSchema.program) else { return nil }
        let command = fields.required("command")
            .flatMap { words($0, fix: "write for example command: [journalctl, --follow]") }
        let directory = fields.optional("directory")?.string(expected: "a path", fix: "write for example directory: .")
        let environment = fields.optional("environment").map(environment) ?? [:]
        let idField = idField(fields)
        return command.map {
            FeedConfiguration.Program(
                command: $0, directory: directory.map(resolved) ?? folder, environment: environment, idField: idField)
        }
    }

    // MARK: Values

    private func httpAddress(_ value: ConfigurationValue) -> String? {
        value.parsed(
            { text in (try? MediaURL(text)).map { _ in text } }, expected: "the address of a server",
            fix: "write an http:// or https:// address, such as https://status.example/state.json")
    }

    private func interval(_ value: ConfigurationValue) -> Duration? {
        guard let interval = value.duration(upTo: .seconds(86_400)) else { return nil }
        guard interval >= .seconds(1) else {
            value.fail(expected: "a duration of at least 1s", fix: "write for example 10s")
            return nil
        }
        return interval
    }

    private func idField(_ fields: ConfigurationFields) -> String? {
        fields.optional("idField")?.string(expected: "the name of a member", fix: "write for example idField: id")
    }

    private func headers(_ value: ConfigurationValue) -> [String: FeedConfiguration.Variable] {
        let fix = "write for example headers: { Authorization: { file: secrets/authorization } }"
        var headers: [String: FeedConfiguration.Variable] = [:]
        for (name, value) in value.members(of: "headers and values", fix: fix) ?? [] {
            let header = name.parsed(headerName, expected: "the name of a header", fix: fix)
            let content = self.content(value)
            if case .text(let text)? = content, !text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
                value.fail(expected: "a value on one line", fix: "remove line breaks and control characters")
            }
            if let header, let content { headers[header] = content }
        }
        return headers
    }

    /// Returns the text if it is the name of a header (RFC 9110 §5.1).
    private func headerName(_ text: String) -> String? {
        let isToken = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "!#$%&'*+-.^_`|~".contains($0)) }
        return isToken && (1...64).contains(text.count) ? text : nil
    }
}
