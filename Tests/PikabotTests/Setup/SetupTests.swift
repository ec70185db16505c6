import ArgumentParser
import BotConfiguration
import BotProgram
import BotTesting
import Foundation
import Nostr
import Synchronization
import Testing

@testable import pikabot

struct SetupAnswersTests {
    @Test(arguments: ["", "Greeter", "-a", "a_b", "a/b", "..", "é", String(repeating: "a", count: 33)])
    func refusesOtherNames(text: String) {
        #expect(throws: CommandError.self) { try SetupName(text) }
    }

    @Test func acceptsShortestAndLongestName() throws {
        #expect(try SetupName("7").text == "7")
        #expect(try SetupName(String(repeating: "a", count: 32)).text.count == 32)
    }

    @Test func readsInvitations() throws {
        let keys = [UInt8(1), 2].map { SetupSamples.key($0).publicKey }
        #expect(try InvitePolicy(setup: ["anyone"]) == .anyone)
        #expect(try InvitePolicy(setup: ["nobody"]) == .nobody)
        #expect(try InvitePolicy(setup: ["\(keys[0].npub), \(keys[1].hex)", keys[0].npub]) == .allowlist(Set(keys)))
    }

    @Test(arguments: [[], [" "], ["anyone", "nobody"], ["npub1"], ["everybody"]])
    func refusesOtherInvitations(words: [String]) {
        #expect(throws: CommandError.self) { try InvitePolicy(setup: words) }
    }

    @Test func readsEachRelayOnce() throws {
        let relays = try [RelayURL](setup: ["wss://b.example wss://a.example", "wss://b.example/"])
        #expect(relays.map(\.string) == ["wss://b.example", "wss://a.example"])
        #expect(throws: CommandError.self) { try [RelayURL](setup: []) }
        #expect(throws: CommandError.self) { try [RelayURL](setup: ["https://a.example"]) }
    }

    @Test func botIsIncludedOrReadableProgram() async throws {
        #expect(try SetupBot("responder") == .responder)
        #expect(throws: CommandError.self) { try SetupBot("relay-probe") }
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            #expect(throws: CommandError.self) { try SetupBot("bot.py", directory: folder) }
            try Data().write(to: URL(fileURLWithPath: folder + "/bot.py"))
            let path = URL(fileURLWithPath: folder + "/bot.py").standardizedFileURL.path
            #expect(try SetupBot("./bot.py", directory: folder) == .program(path))
        }
    }

    @Test func asksUntilAnswersAreValid() throws {
        let input = ScriptedInput(["wrong!", "notes", "http://x", "", "", "anyone"])
        let answers = try SetupDraft().completed(
            name: SetupName("a"), standardRelays: [SetupSamples.relay()], by: input.questions)
        #expect(answers.bot == .notes)
        #expect(answers.relays.map(\.string) == ["wss://relay.example"])
        #expect(answers.invites == .anyone)
        #expect(input.refusals == 3)
    }

    @Test func asksOnlyForMissingAnswers() throws {
        let draft = SetupDraft(relays: [try SetupSamples.relay()], invites: .nobody, bot: .echo)
        let input = ScriptedInput([])
        _ = try draft.completed(name: SetupName("a"), standardRelays: [], by: input.questions)
        #expect(input.prompts == 0)
    }

    @Test func endOfInputNamesMissingOption() throws {
        let error = #expect(throws: CommandError.self) {
            try SetupDraft(bot: .echo).completed(
                name: SetupName("a"), standardRelays: [SetupSamples.relay()], by: ScriptedInput([""]).questions)
        }
        #expect(error?.description.contains("--invites is missing") == true)
    }

    @Test func withoutQuestionsInvitationsAreRequired() throws {
        let name = try SetupName("a")
        #expect(throws: CommandError.self) { try SetupDraft().completed(name: name, standardRelays: []) }
        let relay = try SetupSamples.relay()
        let answers = try SetupDraft(invites: .nobody).completed(name: name, standardRelays: [relay])
        #expect(answers == SetupAnswers(name: name, relays: [relay], invites: .nobody, bot: .echo))
    }
}

struct SetupPlanTests {
    /// Every combination is a valid configuration with the chosen values.
    @Test(arguments: [SetupBot.echo, .notes, .responder, .program("/srv/a \"b\"/bot.py"), .program("/srv/bot")])
    func planIsValidConfiguration(bot: SetupBot) throws {
        let name = try SetupName("greeter")
        let key = SetupSamples.key(3).publicKey
        for invites in [InvitePolicy.anyone, .nobody, .allowlist([key])] {
            for place in [SetupPlace.folder("/bots", name), .service(name)] {
                let answers = SetupAnswers(
                    name: name, relays: [try SetupSamples.relay()], invites: invites, bot: bot)
                let plan = SetupPlan(answers: answers, place: place)
                let file = try ConfigurationFile(
                    text: plan.configuration, path: place.configuration, registry: .included)
                let account = try #require(file.configuration.accounts.first)
                #expect(file.configuration.relays == answers.relays)
                #expect(account.name == "greeter" && account.invites == invites)
                #expect(account.bots.count == 1)
                let draft = SetupDraft(relays: answers.relays, invites: invites, bot: bot)
                #expect(draft.conflicts(with: file.configuration, account).isEmpty)
            }
        }
    }

    @Test(arguments: ["/home/a/bot.py", "/root/bot.py", "/tmp/bot.py"])
    func refusesProgramHiddenFromService(path: String) throws {
        let name = try SetupName("a")
        let answers = SetupAnswers(
            name: name, relays: [try SetupSamples.relay()], invites: .nobody, bot: .program(path))
        let service = SetupPlan(answers: answers, place: .service(name))
        #expect(throws: CommandError.self) { try service.validate() }
        try SetupPlan(answers: answers, place: .folder("/bots", name)).validate()
    }

    @Test func servicePathsFitUnit() throws {
        let place = SetupPlace.service(try SetupName("greeter"))
        #expect(place.configuration == "/etc/pikabot/greeter.yaml")
        #expect(place.key == "/etc/pikabot/secrets/greeter.key")
        #expect(place.state == "/var/lib/pikabot/greeter")
        let permissions = Dictionary(
            place.directories.map { ($0.path, $0.permissions) }, uniquingKeysWith: { first, _ in first })
        #expect(
            permissions == [
                "/etc/pikabot": 0o755, "/etc/pikabot/secrets": 0o700, "/var/lib/pikabot": 0o755,
                "/var/lib/pikabot/greeter": 0o700,
            ])
    }

    @Test func differentOptionsAreConflicts() throws {
        let name = try SetupName("a")
        let answers = SetupAnswers(name: name, relays: [try SetupSamples.relay()], invites: .nobody, bot: .echo)
        let place = SetupPlace.folder("/bots", name)
        let configuration = try ConfigurationFile(
            text: SetupPlan(answers: answers, place: place).configuration, path: place.configuration,
            registry: .included
        ).configuration
        let account = try #require(configuration.accounts.first)
        let other = SetupDraft(relays: [try RelayURL("wss://other.example")], invites: .anyone, bot: .notes)
        #expect(other.conflicts(with: configuration, account) == ["--relay", "--invites", "--bot"])
        #expect(SetupDraft().conflicts(with: configuration, account).isEmpty)
    }
}

struct SetupCommandTests {
    private func parse(_ arguments: String...) throws -> Pikabot.Setup {
        try #require(try Pikabot.parseAsRoot(["setup"] + arguments) as? Pikabot.Setup)
    }

    @Test func parsesOptions() throws {
        let command = try parse(
            "greeter", "--relay", "wss://a.example", "--relay", "wss://b.example", "--invites", "anyone", "--yes")
        #expect(command.name == "greeter" && command.relays.count == 2 && command.invites == ["anyone"])
        #expect(command.yes && !command.service && !command.offline)
        #expect(try parse().name == nil)
    }

    @Test func serviceRefusesDirectory() throws {
        #expect(throws: (any Error).self) { try self.parse("a", "--service", "--directory", "/tmp/x") }
        #expect(throws: (any Error).self) { try self.parse("a", "--directory", "") }
    }
}

struct SetupFilesTests {
    private func setUp(_ folder: String, _ draft: SetupDraft, service: Bool = false) async throws -> SetupReport {
        let name = try SetupName("greeter")
        return try await Pikabot.Setup.setUp(
            name, service ? .service(name, root: folder) : .folder(folder, name), draft, questions: nil,
            standardRelays: [try SetupSamples.relay()], offline: true)
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func filesArePrivate() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { parent in
            let folder = parent + "/bot"
            let report = try await setUp(folder, SetupDraft(invites: .anyone))
            #expect(report.files.created == ["\(folder)/secrets/greeter.key", "\(folder)/greeter.yaml"])
            for path in ["", "/secrets", "/state"] { #expect(try permissions(folder + path) == 0o700) }
            for path in report.files.created { #expect(try permissions(path) == 0o600) }
            let account = try #require(
                try Configuration.load(path: folder + "/greeter.yaml", registry: .included).accounts.first)
            let key = try account.key.loadKeyPair(environment: [:])
            #expect(key.publicKey == report.files.key.publicKey)
        }
    }

    @Test func serviceCanReadItsConfigurationOnly() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { root in
            let report = try await setUp(root, SetupDraft(invites: .anyone), service: true)
            #expect(try permissions(root + "/etc/pikabot/greeter.yaml") == 0o644)
            #expect(try permissions(root + "/etc/pikabot/secrets/greeter.key") == 0o600)
            #expect(report.next == "systemctl enable --now pikabot@greeter")
        }
    }

    @Test func secondRunKeepsKeyAndEdits() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            let first = try await setUp(folder, SetupDraft(invites: .anyone))
            let file = folder + "/greeter.yaml"
            let edited =
                try String(contentsOfFile: file, encoding: .utf8) + "media: { servers: [https://media.example] }\n"
            try Data(edited.utf8).write(to: URL(fileURLWithPath: file))
            let second = try await setUp(folder, SetupDraft())
            #expect(second.files.key.publicKey == first.files.key.publicKey)
            #expect(second.files.created.isEmpty)
            #expect(Set(second.files.kept) == Set(first.files.created))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == edited)
        }
    }

    @Test func refusesToOverwriteDifferentConfiguration() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            _ = try await setUp(folder, SetupDraft(invites: .anyone))
            let text = try String(contentsOfFile: folder + "/greeter.yaml", encoding: .utf8)
            let error = await #expect(throws: CommandError.self) {
                _ = try await self.setUp(folder, SetupDraft(invites: .nobody))
            }
            #expect(error?.description.contains("--invites") == true)
            #expect(try String(contentsOfFile: folder + "/greeter.yaml", encoding: .utf8) == text)
        }
    }

    @Test func interruptedRunKeepsItsKey() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            let first = try await setUp(folder, SetupDraft(invites: .anyone))
            try FileManager.default.removeItem(atPath: folder + "/greeter.yaml")
            let second = try await setUp(folder, SetupDraft(invites: .nobody))
            #expect(second.files.key.publicKey == first.files.key.publicKey)
            #expect(second.files.created == ["\(folder)/greeter.yaml"])
            #expect(second.files.kept == ["\(folder)/secrets/greeter.key"])
        }
    }

    /// A new key would be another account, which cannot use the state.
    @Test func lostKeyOfUsedAccountIsRefused() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            _ = try await setUp(folder, SetupDraft(invites: .anyone))
            try FileManager.default.removeItem(atPath: folder + "/secrets/greeter.key")
            try FileManager.default.createDirectory(
                atPath: folder + "/state/greeter", withIntermediateDirectories: false)
            let error = await #expect(throws: CommandError.self) { _ = try await self.setUp(folder, SetupDraft()) }
            #expect(error?.description.contains("restore the key") == true)
            #expect(!FileManager.default.fileExists(atPath: folder + "/secrets/greeter.key"))
        }
    }

    @Test func editedStateDirectoryIsUsed() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            _ = try await setUp(folder, SetupDraft(invites: .anyone))
            let file = folder + "/greeter.yaml"
            let edited = try String(contentsOfFile: file, encoding: .utf8)
                .replacingOccurrences(of: "./state", with: "/srv/state")
            try Data(edited.utf8).write(to: URL(fileURLWithPath: file))
            let report = try await setUp(folder, SetupDraft())
            #expect(report.files.accountDirectory == "/srv/state/greeter")
        }
    }

    @Test func keyReadableByOthersIsRefused() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            _ = try await setUp(folder, SetupDraft(invites: .anyone))
            let key = folder + "/secrets/greeter.key"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            await #expect(throws: CommandError.self) { _ = try await self.setUp(folder, SetupDraft()) }
        }
    }

    @Test func missingInvitationsWriteNothing() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            await #expect(throws: CommandError.self) { _ = try await self.setUp(folder + "/bot", SetupDraft()) }
            #expect(!FileManager.default.fileExists(atPath: folder + "/bot"))
        }
    }

    @Test func reportHoldsNoSecret() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            let report = try await setUp(folder, SetupDraft(invites: .anyone))
            let secret = Hex.encode(report.files.key.secretBytes)
            #expect(!report.text.contains(secret) && !report.json.jsonText.contains(secret))
            #expect(report.json["link"]?.string == "nostr:\(report.files.key.publicKey.npub)")
            #expect(report.text.contains("--to \(report.files.key.publicKey.npub)"))
        }
    }
}

/// Answers questions from a list.
private final class ScriptedInput: Sendable {
    private let lines: Mutex<(rest: [String], prompts: Int, refusals: Int)>

    init(_ lines: [String]) { self.lines = Mutex((lines, 0, 0)) }

    var prompts: Int { lines.withLock { $0.prompts } }
    var refusals: Int { lines.withLock { $0.refusals } }

    var questions: SetupQuestions {
        SetupQuestions(
            ask: { _ in
                self.lines.withLock { state in
                    state.prompts += 1
                    return state.rest.isEmpty ? nil : state.rest.removeFirst()
                }
            },
            refuse: { _ in self.lines.withLock { $0.refusals += 1 } })
    }
}

private enum SetupSamples {
    static func relay() throws -> RelayURL { try RelayURL("wss://relay.example") }

    /// A key that depends on the seed only.
    static func key(_ seed: UInt8) -> KeyPair {
        var generator = SeededGenerator(seed: UInt64(seed))
        return KeyPair.generate(using: &generator)
    }
}
