import ArgumentParser
import BotProgram
import Foundation
import Nostr

extension Pikabot {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a project.", subcommands: [NewBot.self])
    }

    struct NewBot: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "bot", abstract: "Create a package with a bot, a test, a configuration and a key.")

        @Argument(help: "1 to 32 characters from a-z, 0-9 and \"-\", such as hello.") var name: String
        @Option(help: "The directory to create. (default: NAME)") var directory: String?
        @Option(help: "A clone of pikabot, or the URL of its repository. (default: the clone that built this program)")
        var pikabot: String?
        @Option(help: "The branch of the repository, if --pikabot is a URL.") var branch = "main"

        func run() throws {
            let name = try NewBotName(name)
            let package = NewBotPackage(name: name, source: try source())
            let folder = directory ?? name.text
            let key = try package.write(to: folder)
            Console.printText(Self.nextSteps(folder, name, key))
        }

        private func source() throws -> PikabotSource {
            if let pikabot { return try PikabotSource(pikabot, branch: branch) }
            guard let source = PikabotSource(builtFrom: Executable.path) else {
                throw CommandError(
                    "\(Executable.path) is not inside a clone of pikabot; pass a clone or a repository URL with --pikabot"
                )
            }
            return source
        }

        private static func nextSteps(_ folder: String, _ name: NewBotName, _ key: PublicKey) -> String {
            """
            \(folder) contains a bot, its program, its test, a configuration and a key. Next:
                cd \(folder)
                swift test
                \(Executable.path) relay --data :memory: --media :memory: &
                swift run \(name.text) run \(name.text).yaml
            and in another terminal:
                \(Executable.path) send --state-dir guest --relay ws://127.0.0.1:3334 --to \(key.npub) --content /ping
                \(Executable.path) listen --state-dir guest --relay ws://127.0.0.1:3334 --timeout 5
            """
        }
    }
}
