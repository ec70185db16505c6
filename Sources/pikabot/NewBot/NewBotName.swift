import BotProgram
import BotRuntime

/// A new bot's name, and the names derived from it.
struct NewBotName: Hashable, Sendable {
    /// 1 to 32 characters a-z, 0-9 and "-", starting with a letter: the name of the bot in configurations, of the
    /// package and of the program.
    let text: String

    /// Names of targets that a dependent package cannot reuse, and of targets that SwiftPM generates.
    private static let taken = Set(BotRegistry.included.names).union(["pikabot"])

    init(_ text: String) throws(CommandError) {
        let isName =
            (1...32).contains(text.utf8.count) && text.utf8.first.map { (0x61...0x7a).contains($0) } == true
            && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
            && !text.hasSuffix("-")
        guard isName else {
            throw CommandError(
                "\(text): expected 1 to 32 characters from a-z, 0-9 and \"-\", beginning with a letter and not ending with \"-\""
            )
        }
        guard !Self.taken.contains(text) else {
            throw CommandError("\(text): pikabot has a built-in bot of this name; choose another name")
        }
        self.text = text
    }

    /// `HelloWorld` for `hello-world`.
    private var capitalized: String {
        text.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Name of the type and of its target.
    var type: String { capitalized + "Bot" }
    var program: String { capitalized + "Program" }
    var tests: String { type + "Tests" }
}
