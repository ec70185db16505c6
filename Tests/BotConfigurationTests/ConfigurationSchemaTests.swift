import Foundation
import Nostr
import Testing

@testable import BotConfiguration

struct ConfigurationSchemaTests {
    private func parse(_ yaml: String) throws -> Configuration {
        try Configuration.parse(yaml, file: "bot.yaml", folder: "/etc/pikabot", knownBots: ["echo", "responder"])
    }

    private func problems(_ yaml: String) -> [ConfigurationError.Problem] {
        do {
            _ = try parse(yaml)
            return []
        } catch {
            return (error as? ConfigurationError)?.problems ?? []
        }
    }

    private func file(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func committedSchemaIsGenerated() throws {
        #expect(
            try file("config/schema.json") == ConfigurationDocuments.schema,
            "run: pikabot check --schema > config/schema.json")
        _ = try JSONValue(json: Array(ConfigurationDocuments.schema.utf8))
    }

    @Test func committedReferenceIsGenerated() throws {
        #expect(
            try file("docs/configuration.md") == ConfigurationDocuments.reference,
            "run: pikabot check --reference > docs/configuration.md")
    }

    @Test func parserReadsEveryKey() {
        for place in SchemaPlace.all {
            for wrong in [#"{ "no such": [] }"#, "[[]]"] {
                if case .settings = place.key.value, wrong.hasPrefix("{") { continue }
                let found = problems(place.file(with: wrong))
                #expect(found.contains { $0.keyPath.hasPrefix(place.keyPath) }, "\(place): \(wrong)")
            }
        }
    }

    @Test func reportsMissingRequiredKeys() {
        for place in SchemaPlace.all where place.key.absence == .refused {
            // Without use or command, the kind of bot is unknown, and so is that of a feed without its own key.
            let mapping = place.steps[place.steps.count - 1].mapping.name
            let isKindOfBot = ["includedBot", "externalBot"].contains(mapping)
            let isKindOfFeed =
                ConfigurationSchema.feeds.map(\.name).contains(mapping)
                && ConfigurationSchema.feedKinds.contains(place.key.name)
            let expected =
                isKindOfBot
                ? "one of the keys use, command"
                : isKindOfFeed
                    ? "one of the keys \(ConfigurationSchema.feedKinds.joined(separator: ", "))"
                    : "the key \(place.key.name)"
            // Without its own keys, the mapping is parsed as an ordinary reference.
            guard !["bunker", "ncryptsec"].contains(place.key.name) else { continue }
            #expect(problems(place.file(with: nil)).map(\.expected).contains(expected), "\(place)")
        }
    }

    @Test func examplesAreValid() {
        for place in SchemaPlace.all {
            guard let example = place.key.example else { continue }
            #expect(problems(place.file(with: example)) == [], "\(place)")
        }
    }

    @Test func defaultsMatchSchema() throws {
        for place in SchemaPlace.all {
            guard case .standard(let text) = place.key.absence else { continue }
            #expect(try parse(place.file(with: text)) == parse(place.file(with: nil)), "\(place)")
        }
    }

    @Test func changeEffectsMatchSchema() throws {
        for place in SchemaPlace.all where place.key.absence != .refused {
            guard let example = place.key.example, place.steps[place.steps.count - 1].mapping.rule == .each else {
                continue
            }
            let changes = try parse(place.file(with: nil)).changes(to: parse(place.file(with: example)))
            let effect = try #require(place.key.effect, "\(place)")
            #expect(!changes.isEmpty && changes.allSatisfy { $0.effect == effect }, "\(place): \(changes)")
        }
    }

    @Test func everyValueDeclaresItsChangeEffect() {
        for place in SchemaPlace.all where place.key.value.mappings.isEmpty {
            #expect(ConfigurationSchema.effect(of: place.steps.map(\.key.name)) != nil, "\(place)")
        }
        #expect(ConfigurationSchema.effect(of: ["accounts", "bots", "environment", "MODE"]) == .restartsWorker)
        #expect(ConfigurationSchema.effect(of: ["accounts", "bots", "with", "rules"]) == .live)
        #expect(ConfigurationSchema.effect(of: ["colour"]) == nil)
    }

    @Test func definitionNamesAreUnique() {
        let names = ConfigurationSchema.mappings.map(\.name) + SchemaText.all.map(\.name)
        #expect(Set(names).count == names.count)
        for mapping in ConfigurationSchema.mappings { #expect(Set(mapping.names).count == mapping.names.count) }
    }

    @Test func exampleContainsEveryKey() throws {
        let example = try file("config/echo.example.yaml")
        #expect(problems(example) == [])
        #expect(SchemaPlace.all.count > 80)
        for place in SchemaPlace.all { #expect(example.contains("\(place.key.name):"), "\(place)") }
    }
}
