import BotDispatch
import BotKit
import LiveTesting
import Nostr
import ProcessSupport
import Testing

@testable import BotConfiguration

let wholeConfiguration = """
    version: 1
    relays: [wss://relay.one.example, ws://127.0.0.1:7777/path]
    state: { directory: ./state }
    accounts:
      - name: greeter
        key: { file: secrets/greeter.nsec }
        invites:
          accept: allowlist
          from:
            - 7bdef7be22dd8e59f4600e044aa53a1cf975a9dc7d27df5833bc77db784a5805
          perInviter: 10/h
        operators: [npub10000003zmk89narqpczy4ff6rnuht2wu05na7kpnh3mak7z2tqzsv8vwqk]
        restart: transient
        bots:
          - use: responder
            groups: { default: mention }
            limits: { perSender: 6/min, perGroup: 30/h, botPair: 2 }
            with:
              rules: [ { when: { command: ping }, reply: "pong" } ]
              numbers: [1, -2.5, 1e3, 0x10, "7", yes, true, ~]
              apiToken: { file: secrets/token }
      - name: second
        key: { command: [bin/key, --for, second] }
        invites: { accept: anyone, perInviter: unlimited }
        selfUpdate: { afterJoining: never, every: 36h }
        retention: { messages: 90d, newest: 5000, unhandled: forever, maximumUnhandled: 100 }
        profiles: false
        onRollbackStorm: leave
        protocol: v1
        bots:
          - { use: echo, triggers: nobody }
          - command: [python3, bots/scribe.py, --quiet]
            groups: { default: none, chats: { \(exampleChat): all } }
            triggers: { allow: [7bdef7be22dd8e59f4600e044aa53a1cf975a9dc7d27df5833bc77db784a5805] }
            timeout: 5s
            allow: { commands: [react, send_message], groups: [\(exampleChat)] }
            directory: scribe
            environment: { MODE: quiet, NUMBER: 7, EMPTY: "", TOKEN: { file: secrets/token } }
            restart: temporary
          - { use: echo }
          - { command: [./bin/scribe], name: echo_2 }
    media: { servers: [https://media.example, "http://127.0.0.1:3334"], cache: 2GiB }
    databases: { size: 1GiB, timeout: 10s, backup: 6h }
    calls: { relay: wss://relay.example/calls, longest: 10m }
    supervisor: { restart: { strategy: rest_for_one, intensity: 3, period: 2m, backoff: 250ms..5s }, drain: 1m,
      patience: 45s, control: run/control.sock }
    observe: { listen: "[::1]:9464", hosts: [bots.example], canary: { every: 2m, budget: 5s }, logs: json,
      level: debug }

    """

private let exampleChat: ChatID = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

struct ConfigurationTests {
    private func parse(_ yaml: String, folder: String = "/etc/pikabot") throws -> Configuration {
        try Configuration.parse(yaml, file: "bot.yaml", folder: folder, knownBots: ["echo", "responder"])
    }

    @Test func readsEveryField() throws {
        let configuration = try parse(wholeConfiguration)
        let friend = try PublicKey(hex: "7bdef7be22dd8e59f4600e044aa53a1cf975a9dc7d27df5833bc77db784a5805")
        #expect(configuration.relays.map(\.string) == ["wss://relay.one.example", "ws://127.0.0.1:7777/path"])
        #expect(configuration.stateDirectory == "/etc/pikabot/state")
        #expect(configuration.accounts.map(\.name) == ["greeter", "second"])
        let greeter = try #require(configuration.accounts.first)
        #expect(greeter.key == .file("/etc/pikabot/secrets/greeter.nsec"))
        #expect(greeter.invites == .allowlist([friend]))
        #expect(greeter.inviteLimit == Rate(10, per: .hour) && configuration.accounts[1].inviteLimit == nil)
        #expect(greeter.operators == [friend] && configuration.accounts[1].operators == [])
        #expect(greeter.restart == .transient && configuration.accounts[1].restart == .permanent)
        let limits = BotLimits(
            perSender: Rate(6, per: .minute), perGroup: Rate(30, per: .hour), botPair: 2)
        #expect(
            greeter.bots == [
                BotConfiguration(
                    name: "responder", source: greeter.bots[0].source,
                    policy: BotPolicy(groups: GroupPolicy(.mention), limits: limits))
            ])
        #expect(configuration.accounts[1].key == .command(["/etc/pikabot/bin/key", "--for", "second"]))
        #expect(configuration.accounts[1].invites == .anyone)
        #expect(greeter.selfUpdate == .standard && greeter.retention == .standard)
        #expect(greeter.profiles && !configuration.accounts[1].profiles)
        #expect(greeter.onRollbackStorm == .report && configuration.accounts[1].onRollbackStorm == .leave)
        #expect(greeter.groupProtocol == .auto && configuration.accounts[1].groupProtocol == .v1)
        #expect(
            configuration.accounts[1].retention
                == RetentionPolicy(
                    messages: .seconds(90 * 86_400), newestMessages: 5000, unhandled: nil, maximumUnhandled: 100))
        #expect(
            configuration.accounts[1].selfUpdate == SelfUpdatePolicy(afterJoining: nil, every: .seconds(129_600)))
        #expect(configuration.media.servers.map(\.description) == ["https://media.example", "http://127.0.0.1:3334"])
        #expect(configuration.media.cacheBytes == 2 << 30)
        #expect(configuration.databases.bytes == 1 << 30)
        #expect(configuration.databases.timeout == .seconds(10))
        #expect(configuration.databases.backup == .seconds(21_600))
        #expect(
            configuration.supervisor
                == SupervisionConfiguration(
                    strategy: .restForOne, intensity: 3, period: .seconds(120),
                    backoff: .milliseconds(250) ... .seconds(5), drain: .seconds(60), patience: .seconds(45),
                    control: "/etc/pikabot/run/control.sock"))
        #expect(
            configuration.observe
                == ObservationConfiguration(
                    listen: ListenAddress(host: "::1", port: 9464), hosts: ["bots.example"], canary: .seconds(120),
                    canaryBudget: .seconds(5),
                    logs: .json, level: .debug))
    }

    @Test func readsExternalBots() throws {
        let bots = try parse(wholeConfiguration).accounts[1].bots
        #expect(bots.map(\.name) == ["echo", "scribe", "echo#2", "echo_2"])
        #expect(bots[0].policy.triggers == .nobody)
        let friend = try PublicKey(hex: "7bdef7be22dd8e59f4600e044aa53a1cf975a9dc7d27df5833bc77db784a5805")
        let policy = BotPolicy(
            groups: GroupPolicy(.none, exceptions: [exampleChat: .all]), triggers: .allowlist([friend]),
            timeout: .seconds(5))
        var scribe = ExternalBotConfiguration(
            command: ["python3", "bots/scribe.py", "--quiet"], directory: "/etc/pikabot/scribe")
        scribe.commands = ["react", "send_message"]
        scribe.groups = [exampleChat]
        scribe.environment = [
            "MODE": .text("quiet"), "NUMBER": .text("7"), "EMPTY": .text(""),
            "TOKEN": .secret(.file("/etc/pikabot/secrets/token")),
        ]
        scribe.restart = .temporary
        #expect(bots[1] == BotConfiguration(name: "scribe", source: .external(scribe), policy: policy))
        let smallest = ExternalBotConfiguration(command: ["./bin/scribe"], directory: "/etc/pikabot")
        #expect(bots[3] == BotConfiguration(name: "echo_2", source: .external(smallest)))
        #expect(smallest.commands == ["send_message", "react", "send_typing", "send_hypernote"])
        #expect(smallest.groups == nil && smallest.restart == .permanent)
    }

    @Test(arguments: [
        (["python3", "bots/scribe.py"], "scribe"), (["/usr/bin/python3.11", "-u", "Scribe Bot.py"], "scribe-bot"),
        (["./bin/scribe", "config.toml"], "scribe"), (["node", "index.min.js"], "index-min"), (["scribe"], "scribe"),
        (["deno", "run", "--allow-net", "bot.ts"], "bot"), (["env", "--"], "env"), (["/.hidden"], "-hidden"),
    ])
    func namesProgramsAfterTheirScript(command: [String], name: String) {
        #expect(ExternalBotConfiguration(command: command).standardName == name)
    }

    @Test(arguments: [
        ("[wss://relay.example]", false), ("{ urls: [wss://relay.example] }", false),
        ("{ urls: [wss://relay.example], private: refuse }", false),
        ("{ private: allow, urls: [wss://relay.example] }", true),
    ])
    func acceptsRelaysAsListOrMapping(relays: String, allowsPrivate: Bool) throws {
        let text = "version: 1\nrelays: \(relays)\naccounts: [{ name: a, key: { env: A } }]\n"
        let configuration = try parse(text)
        #expect(configuration.relays.map(\.string) == ["wss://relay.example"])
        #expect(configuration.allowsPrivateAddresses == allowsPrivate)
        #expect(try parse(configuration.redactedDescription) == configuration)
    }

    @Test func explicitNamesTakePrecedence() throws {
        let configuration = try parse(
            """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: a
                key: { env: A }
                bots:
                  - { use: echo }
                  - { use: echo }
                  - { use: responder, name: echo }
                  - { use: echo, name: first }
            """)
        #expect(configuration.accounts[0].bots.map(\.name) == ["echo#2", "echo#3", "echo", "first"])
    }

    @Test func readsSettingsAsValueTree() throws {
        let bot = try parse(wholeConfiguration).accounts[0].bots[0]
        guard case .included("responder", let settings) = bot.source else {
            Issue.record("expected the responder")
            return
        }
        #expect(settings["rules"]?.arrayValue?.first?["when"]?["command"]?.stringValue == "ping")
        #expect(
            settings["numbers"]
                == .array([
                    .int(1), .double(-2.5), .double(1000), .string("0x10"), .string("7"), .string("yes"), .bool(true),
                    .null,
                ]))
        #expect(settings["numbers"]?.arrayValue?.first?.doubleValue == 1)
        #expect(settings["absent"] == nil)
    }

    @Test func minimalFileUsesDefaults() throws {
        let configuration = try parse(
            """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: a
                key: { credential: a.nsec }
                bots: [ { use: echo } ]
            """, folder: ".")
        #expect(configuration.stateDirectory == "./state")
        #expect(configuration.accounts[0].invites == .nobody)
        #expect(configuration.accounts[0].key == .credential("a.nsec"))
        #expect(
            configuration.accounts[0].bots == [
                BotConfiguration(name: "echo", source: .included("echo", .object([:])))
            ])
        #expect(configuration.supervisor == SupervisionConfiguration())
        #expect(configuration.observe.listen == nil)
    }

    @Test func acceptsAnchorsAndAliases() throws {
        let configuration = try parse(
            """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: a
                key: { env: A }
                bots: [ { use: echo, limits: &calm { perSender: 1/s } }, { use: responder, limits: *calm } ]
            """)
        #expect(
            configuration.accounts[0].bots.map(\.policy.limits.perSender)
                == Array(repeating: Rate(1, per: .second), count: 2))
    }

    @Test func redactedDescriptionOmitsSecrets() throws {
        #expect(
            try parse(wholeConfiguration).redactedDescription == """
                version: 1
                relays: ["wss://relay.one.example", "ws://127.0.0.1:7777/path"]
                state: { directory: /etc/pikabot/state }
                accounts:
                  - name: greeter
                    key: { file: /etc/pikabot/secrets/greeter.nsec }
                    invites: { accept: allowlist, from: [npub10000003zmk89narqpczy4ff6rnuht2wu05na7kpnh3mak7z2tqzsv8vwqk], \
                perInviter: 10/h }
                    operators: [npub10000003zmk89narqpczy4ff6rnuht2wu05na7kpnh3mak7z2tqzsv8vwqk]
                    restart: transient
                    selfUpdate: { afterJoining: 5s..1m, every: 7d }
                    retention: { messages: forever, newest: all, unhandled: 30d, maximumUnhandled: 10000 }
                    profiles: true
                    onRollbackStorm: report
                    protocol: auto
                    webhooks: "127.0.0.1:8790"
                    feeds: []
                    bots:
                      - use: responder
                        name: responder
                        groups: { default: mention }
                        triggers: members
                        limits: { perSender: 6/min, perGroup: 30/h, botPair: 2 }
                        timeout: 30s
                        with: { apiToken: { file: secrets/token }, numbers: [1, -2.5, 1000.0, "0x10", "7", yes, true, null], \
                rules: [{ reply: pong, when: { command: ping } }] }
                  - name: second
                    key: { command: [/etc/pikabot/bin/key, "--for", second] }
                    invites: { accept: anyone, perInviter: unlimited }
                    operators: []
                    restart: permanent
                    selfUpdate: { afterJoining: never, every: 36h }
                    retention: { messages: 90d, newest: 5000, unhandled: forever, maximumUnhandled: 100 }
                    profiles: false
                    onRollbackStorm: leave
                    protocol: v1
                    webhooks: "127.0.0.1:8790"
                    feeds: []
                    bots:
                      - use: echo
                        name: echo
                        groups: { default: all }
                        triggers: nobody
                        limits: { perSender: unlimited, perGroup: unlimited, botPair: 3 }
                        timeout: 30s
                        with: {}
                      - command: [python3, bots/scribe.py, "--quiet"]
                        name: scribe
                        groups: { default: none, chats: { "\(exampleChat)": all } }
                        triggers: { allow: [npub10000003zmk89narqpczy4ff6rnuht2wu05na7kpnh3mak7z2tqzsv8vwqk] }
                        limits: { perSender: unlimited, perGroup: unlimited, botPair: 3 }
                        timeout: 5s
                        allow: { commands: [react, send_message], groups: ["\(exampleChat)"] }
                        directory: /etc/pikabot/scribe
                        environment: { EMPTY: "", MODE: quiet, NUMBER: "7", TOKEN: { file: /etc/pikabot/secrets/token } }
                        restart: temporary
                      - use: echo
                        groups: { default: all }
                        triggers: members
                        limits: { perSender: unlimited, perGroup: unlimited, botPair: 3 }
                        timeout: 30s
                        with: {}
                      - command: [./bin/scribe]
                        name: echo_2
                        groups: { default: all }
                        triggers: members
                        limits: { perSender: unlimited, perGroup: unlimited, botPair: 3 }
                        timeout: 30s
                        allow: { commands: [react, send_hypernote, send_message, send_typing], groups: all }
                        directory: /etc/pikabot
                        environment: {}
                        restart: permanent
                media: { servers: ["https://media.example", "http://127.0.0.1:3334"], cache: 2GiB }
                databases: { size: 1GiB, timeout: 10s, backup: 6h }
                calls: { relay: "wss://relay.example/calls", longest: 10m }
                supervisor: { restart: { strategy: rest_for_one, intensity: 3, period: 2m, backoff: 250ms..5s }, \
                drain: 1m, patience: 45s, control: /etc/pikabot/run/control.sock }
                observe: { listen: "[::1]:9464", hosts: [bots.example], canary: { every: 2m, budget: 5s }, \
                logs: json, level: debug }

                """)
    }

    @Test func mediaCacheHasSizeOrIsOff() throws {
        func cache(_ media: String) throws -> Int? {
            try parse(
                """
                version: 1
                relays: [wss://relay.example]
                accounts: [ { name: greeter, key: { file: k } } ]
                \(media)

                """
            ).media.cacheBytes
        }
        #expect(try cache("") == 100 << 20)
        #expect(try cache("media: { servers: [https://media.example] }") == 100 << 20)
        #expect(try cache("media: { cache: 1MiB }") == 1 << 20)
        #expect(try cache("media: { cache: 1024GiB }") == 1 << 40)
        #expect(try cache("media: { cache: never }") == nil)
    }

    @Test func redactedDescriptionRoundTrips() throws {
        let configuration = try parse(wholeConfiguration)
        #expect(try parse(configuration.redactedDescription) == configuration)
    }

    @Test func readsPasswordProtectedKey() throws {
        let configuration = try parse(
            """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: greeter
                key: { password: { command: [pass, show, greeter] }, ncryptsec: { file: greeter.ncryptsec } }

            """)
        #expect(
            configuration.accounts[0].key
                == .encrypted(
                    .file("/etc/pikabot/greeter.ncryptsec"), password: .command(["pass", "show", "greeter"])))
        let redacted = configuration.redactedDescription
        #expect(
            redacted.contains(
                "key: { ncryptsec: { file: /etc/pikabot/greeter.ncryptsec }, "
                    + "password: { command: [pass, show, greeter] } }"))
        #expect(try parse(redacted) == configuration)
    }

    @Test func resolvesPathsAgainstFileDirectory() throws {
        try withTemporaryFolder { folder in
            try writeFile(wholeConfiguration, to: folder + "/bot.yaml")
            let configuration = try Configuration.load(path: folder + "/bot.yaml", knownBots: ["echo", "responder"])
            #expect(configuration.stateDirectory == folder + "/state")
        }
    }

    @Test func refusesUnreadableFiles() throws {
        try withTemporaryFolder { folder in
            func message(_ name: String) -> String {
                do {
                    _ = try Configuration.load(path: "\(folder)/\(name)", knownBots: ["echo"])
                    return "no error"
                } catch {
                    return error.description.replacing(folder + "/", with: "")
                }
            }
            #expect(
                message("absent.yaml")
                    == "absent.yaml:1:1: expected a readable file, found none; check the path and its permissions"
            )
            try writeFile([0x61, 0xFF, 0xFE], to: folder + "/bytes.yaml")
            #expect(
                message("bytes.yaml")
                    == "bytes.yaml:1:1: expected UTF-8 text, found other bytes; save the file as UTF-8")
            try writeFile(String(repeating: "#", count: (1 << 20) + 100), to: folder + "/large.yaml")
            #expect(
                message("large.yaml")
                    == "large.yaml:1:1: expected at most 1048576 bytes, found 1048577; "
                    + "move long values to separate files")
        }
    }
}
