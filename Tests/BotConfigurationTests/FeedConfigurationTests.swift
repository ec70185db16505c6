import BotDispatch
import Testing

@testable import BotConfiguration

struct FeedConfigurationTests {
    private func file(_ feeds: String) -> String {
        "{ version: 1, relays: [wss://relay.example], accounts: [{ name: a, key: { env: KEY }, feeds: [\(feeds)] }] }"
    }

    private func parse(_ yaml: String) throws -> Configuration {
        try Configuration.parse(yaml, file: "bot.yaml", folder: "/etc/pikabot", knownBots: [])
    }

    private func feeds(_ text: String) throws -> [FeedConfiguration] { try parse(file(text)).accounts[0].feeds }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try feeds(text)
            return []
        } catch {
            return ((error as? ConfigurationError)?.problems ?? []).map { "\($0.keyPath): \($0.expected)" }
        }
    }

    @Test func readsEveryKind() throws {
        let feeds = try feeds(
            """
            { name: a, webhook: { authentication: { hmac: [{ env: A }, { file: b }] }, tolerance: 1m, rate: unlimited } },
            { name: b, webhook: { authentication: { bearer: { env: B } } }, maximumBytes: 10 },
            { name: c, websocket: { url: "wss://c.example/x", send: [hello], idField: id } },
            { name: d, poll: { url: "http://127.0.0.1:1/d", every: 5m, headers: { X-Key: { env: D }, Accept: a } } },
            { name: e, sse: { url: "https://e.example" } },
            { name: f, directory: { path: in, every: 10s, then: delete } },
            { name: g, program: { command: [tail, -f, x], environment: { A: b } } }
            """)
        #expect(feeds.map(\.name) == ["a", "b", "c", "d", "e", "f", "g"])
        #expect(feeds.map(\.source.kind) == ["webhook", "webhook", "websocket", "poll", "sse", "directory", "program"])
        var hook = FeedConfiguration.Webhook(
            authentication: .hmac([.environment("A"), .file("/etc/pikabot/b")]), tolerance: .seconds(60), rate: nil)
        #expect(feeds[0].source == .webhook(hook))
        hook = FeedConfiguration.Webhook(authentication: .bearer(.environment("B")))
        #expect(feeds[1].source == .webhook(hook) && feeds[1].maximumBytes == 10)
        #expect(hook.rate == Rate(60, per: .minute) && feeds[0].maximumBytes == 262_144)
        #expect(
            feeds[5].source
                == .directory(.init(path: "/etc/pikabot/in", every: .seconds(10), then: .delete)))
        #expect(
            feeds[6].source
                == .program(
                    .init(command: ["tail", "-f", "x"], directory: "/etc/pikabot", environment: ["A": .text("b")])))
    }

    @Test func printedFeedsRoundTrip() throws {
        let configuration = try parse(
            file(
                """
                { name: a, webhook: { authentication: { hmac: [{ env: A }] } } },
                { name: b, poll: { url: "https://b.example", headers: { Authorization: { file: t } } } },
                { name: c, program: { command: [./x, "a b"], idField: id } },
                { name: d, websocket: { url: "ws://d", send: ["{\\"a\\":1}"] } }
                """))
        #expect(try parse(configuration.redactedDescription) == configuration)
    }

    @Test(arguments: [
        ("{ name: a }", "feeds[0]: one of the keys"),
        ("{ name: a, poll: { url: \"http://a\" }, sse: { url: \"http://a\" } }", "feeds[0]: one of the keys"),
        ("{ name: A/B, sse: { url: \"http://a\" } }", "feeds[0].name: 1 to 32 characters"),
        ("{ sse: { url: \"http://a\" } }", "feeds[0]: the key name"),
        ("{ name: a, sse: { url: \"ftp://a\" } }", "feeds[0].sse.url: the address of a server"),
        ("{ name: a, websocket: { url: \"http://a\" } }", "feeds[0].websocket.url: a WebSocket address"),
        ("{ name: a, poll: { url: \"http://a\", every: 10ms } }", "feeds[0].poll.every: a duration of at least 1s"),
        ("{ name: a, webhook: { authentication: {} } }", "feeds[0].webhook.authentication: exactly one of"),
        (
            "{ name: a, webhook: { authentication: { hmac: [{ env: A }], bearer: { env: A } } } }",
            "feeds[0].webhook.authentication: exactly one of"
        ),
        (
            "{ name: a, webhook: { authentication: { hmac: [] } } }",
            "feeds[0].webhook.authentication.hmac: at least one"
        ),
        (
            "{ name: a, sse: { url: \"http://a\", headers: { \"a b\": c } } }",
            "feeds[0].sse.headers: the name of a header"
        ),
        (
            "{ name: a, sse: { url: \"http://a\", headers: { a: \"b\\nc\" } } }",
            "feeds[0].sse.headers.a: a value on one line"
        ),
        ("{ name: a, sse: { url: \"http://a\" }, maximumBytes: 2000000 }", "feeds[0].maximumBytes: a whole number"),
        ("{ name: a, directory: { path: x, then: keep } }", "feeds[0].directory.then: one of move, delete"),
    ])
    func reportsMistakes(feed: String, problem: String) {
        #expect(problems(feed).contains { $0.hasPrefix("accounts[0].\(problem)") }, "\(problems(feed))")
    }

    @Test func namesAreUnique() {
        let one = "{ name: a, sse: { url: \"http://a\" } }"
        #expect(
            problems("\(one), \(one)") == ["accounts[0].feeds[1].name: a name that no other feed of the account has"])
    }

    @Test func boundsTheNumberOfFeeds() {
        let feeds = (0...FeedConfiguration.most).map { "{ name: f\($0), sse: { url: \"http://a\" } }" }
        #expect(problems(feeds.joined(separator: ", ")) == ["accounts[0].feeds: at most 32 feeds"])
    }

    @Test func changesNeedARestartOfTheWorker() throws {
        let old = try parse(file("{ name: a, sse: { url: \"http://a\" } }"))
        let new = try parse(file("{ name: a, sse: { url: \"http://b\" } }, { name: b, sse: { url: \"http://a\" } }"))
        let changes = old.changes(to: new)
        #expect(changes.map(\.path) == ["accounts[a].feeds.a", "accounts[a].feeds.b"])
        #expect(changes.allSatisfy { $0.effect == .restartsWorker })
    }
}
