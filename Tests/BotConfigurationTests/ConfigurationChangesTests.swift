import BotKit
import Testing

@testable import BotConfiguration

/// Differences of two files, and their effects.
struct ConfigurationChangesTests {
    private static let base = """
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER }
            bots:
              - { use: echo, with: { greeting: hello } }
              - { command: [python3, scribe.py], environment: { MODE: quiet, TOKEN: { env: TOKEN } } }
          - name: second
            key: { env: SECOND }

        """

    struct Edit: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        let changes: [String]

        init(_ old: String, _ new: String, _ changes: [String]) {
            self.old = old
            self.new = new
            self.changes = changes
        }

        var testDescription: String { "\(old) -> \(new)" }
    }

    static let edits = [
        Edit("accounts:", "# A comment, and defaults written out.\nstate: { directory: state }\naccounts:", []),
        Edit(
            "[wss://relay.example]", "[wss://relay.example, wss://two.example]",
            [#"relays: ["wss://relay.example"] -> ["wss://relay.example", "wss://two.example"] (applies at once)"#]),
        Edit("[wss://relay.example]", "{ urls: [wss://relay.example], private: refuse }", []),
        Edit(
            "[wss://relay.example]", "{ urls: [wss://two.example], private: allow }",
            [
                #"relays: ["wss://relay.example"] -> ["wss://two.example"] (applies at once)"#,
                "relays.private: refuse -> allow (applies at once)",
            ]),
        Edit(
            "accounts:", "state: { directory: /var/lib/pikabot }\naccounts:",
            ["state.directory: /etc/pikabot/state -> /var/lib/pikabot (needs a restart of pikabot)"]),
        Edit(
            "accounts:", "observe: { level: debug, canary: never, listen: 127.0.0.1:0 }\naccounts:",
            [
                "observe.listen: nothing -> 127.0.0.1:0 (needs a restart of pikabot)",
                "observe.canary.every: 1m -> never (needs a restart of all workers)",
                "observe.level: info -> debug (applies at once)",
            ]),
        Edit(
            "key: { env: SECOND }", "key: { env: SECOND }\n    protocol: v2",
            ["accounts[second].protocol: auto -> v2 (applies at once)"]),
        Edit(
            "key: { env: GREETER }", "key: { file: /k }",
            ["accounts[greeter].key: { env: GREETER } -> { file: /k } (needs a restart of the worker)"]),
        Edit(
            "key: { env: GREETER }", "key: { env: GREETER }\n    invites: { accept: anyone, perInviter: 5/h }",
            [
                "accounts[greeter].invites.accept: nobody -> anyone (applies at once)",
                "accounts[greeter].invites.perInviter: 30/h -> 5/h (applies at once)",
            ]),
        Edit(
            "{ greeting: hello }", "{ greeting: bye, times: 2 }",
            [
                "accounts[greeter].bots[echo].with.greeting: hello -> bye (applies at once)",
                "accounts[greeter].bots[echo].with.times: nothing -> 2 (applies at once)",
            ]),
        Edit(
            "{ use: echo, with: { greeting: hello } }", "{ use: echo, limits: { perSender: 1/s }, timeout: 5s }",
            [
                "accounts[greeter].bots[echo].with.greeting: hello -> nothing (applies at once)",
                "accounts[greeter].bots[echo].limits.perSender: unlimited -> 1/s (applies at once)",
                "accounts[greeter].bots[echo].timeout: 30s -> 5s (applies at once)",
            ]),
        Edit(
            "MODE: quiet, TOKEN: { env: TOKEN }", "TOKEN: { file: token }",
            [
                "accounts[greeter].bots[scribe].environment.MODE: quiet -> nothing (needs a restart of the worker)",
                "accounts[greeter].bots[scribe].environment.TOKEN: { env: TOKEN } -> { file: /etc/pikabot/token } "
                    + "(needs a restart of the worker)",
            ]),
        Edit(
            "{ use: echo, with: { greeting: hello } }", "{ use: echo, name: parrot, with: { greeting: hello } }",
            ["accounts[greeter].bots: [echo, scribe] -> [parrot, scribe] (needs a restart of the worker)"]),
        Edit(
            "{ use: echo, with: { greeting: hello } }", "{ command: [./echo] }",
            [
                "accounts[greeter].bots[echo]: use: echo -> command (needs a restart of the worker)"
            ]),
        Edit(
            "  - name: second", "  - name: third",
            [
                "accounts[second]: an account with bots [] -> nothing (stops the worker)",
                "accounts[third]: nothing -> an account with bots [] (starts a worker)",
            ]),
        Edit(
            "accounts:", "supervisor: { drain: 20s, restart: { intensity: 9 }, control: /run/c }\naccounts:",
            [
                "supervisor.restart.intensity: 5 -> 9 (needs a restart of pikabot)",
                "supervisor.drain: 10s -> 20s (needs a restart of pikabot)",
                "supervisor.control: nothing -> /run/c (needs a restart of pikabot)",
            ]),
    ]

    private func parse(_ yaml: String) throws -> Configuration {
        try Configuration.parse(yaml, file: "bot.yaml", folder: "/etc/pikabot", knownBots: ["echo", "responder"])
    }

    @Test(arguments: edits)
    func describesChanges(edit: Edit) throws {
        let old = try parse(Self.base)
        let new = try parse(Self.base.replacing(edit.old, with: edit.new))
        #expect(old.changes(to: new).map(\.description) == edit.changes)
        // The reverse change has as many steps, each with the same effect unless it starts or stops a worker.
        let back = new.changes(to: old)
        #expect(back.count == edit.changes.count)
        #expect(new.changes(to: new) == [])
    }

    @Test func changesNameTheirAccount() throws {
        let old = try parse(Self.base)
        let new = try parse(
            Self.base.replacing("{ env: SECOND }", with: "{ env: OTHER }").replacing("relay.", with: "relays."))
        #expect(old.changes(to: new).map(\.account) == [nil, "second"])
        #expect(old.changes(to: new).map(\.effect) == [.live, .restartsWorker])
        #expect(ConfigurationChange.Effect.live < .restartsWorker && .restartsWorker < .restartsSupervisor)
    }

    @Test func orderMattersOnlyForRestForOne() throws {
        func file(_ strategy: String, _ names: [String]) throws -> Configuration {
            let accounts = names.map { "{ name: \($0), key: { env: KEY } }" }.joined(separator: ", ")
            return try parse(
                "{ version: 1, relays: [wss://relay.example], accounts: [\(accounts)], "
                    + "supervisor: { restart: { strategy: \(strategy) } } }")
        }
        #expect(try file("one_for_one", ["a", "b"]).changes(to: file("one_for_one", ["b", "a"])) == [])
        let swapped = try file("rest_for_one", ["a", "b"]).changes(to: file("rest_for_one", ["b", "a"]))
        #expect(swapped.map(\.description) == ["accounts: [a, b] -> [b, a] (needs a restart of pikabot)"])
        let appended = try file("rest_for_one", ["a", "b"]).changes(to: file("rest_for_one", ["a", "b", "c"]))
        #expect(appended.map(\.effect) == [.addsAccount])
        let inserted = try file("rest_for_one", ["a", "b"]).changes(to: file("rest_for_one", ["a", "c", "b"]))
        #expect(inserted.map(\.effect) == [.restartsSupervisor, .addsAccount])
    }

    @Test func comparesSecretsWithoutShowingThem() throws {
        var old = try parse(Self.base)
        var new = old
        old.accounts[0].bots[0].source = .included("echo", .object(["token": .string("abc")]))
        new.accounts[0].bots[0].source = .included("echo", .object(["token": .string("def")]))
        #expect(
            old.changes(to: new).map(\.description) == [
                "accounts[greeter].bots[echo].with.token: (not shown) -> (not shown) (applies at once)"
            ])
    }
}
