import BotConfiguration
import BotKit
import Errors
import Testing

@testable import BotRuntime

struct BotRegistryTests {
    private struct Strict: Bot {
        static let name = "strict"
        init(settings: BotSettings) throws {
            guard settings["word"]?.stringValue != nil else {
                throw BotError(.invalidSettings, "word is missing; add with: { word: … }")
            }
        }
        var handlers: [Handler] {}
    }

    @Test func makesBotsByName() throws {
        let registry = BotRegistry(Strict.self, GreeterBot.self)
        #expect(registry.names == ["greeter", "strict"])
        #expect(try registry.makeBot("strict", settings: .object(["word": .string("x")])) is Strict)
    }

    @Test func errorsNameTheBot() {
        let registry = BotRegistry(Strict.self)
        let unknown = #expect(throws: WorkerError.self) { try registry.makeBot("echo", settings: .null) }
        #expect(unknown?.description == "unknown_bot: unknown bot echo; known bots: strict")
        let refused = #expect(throws: WorkerError.self) { try registry.makeBot("strict", settings: .object([:])) }
        #expect(refused?.code == .badSettings)
        #expect(
            refused?.description == "bad_settings: bot strict rejects its settings "
                + "(invalid_settings: word is missing; add with: { word: … })")
    }
}
