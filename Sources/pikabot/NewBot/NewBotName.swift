import BotProgram
import BotRuntime

/// What a new bot is called, and what is named after it.
struct NewBotName: Hashable, Sendable {
    /// 1 to 32 of a-z, 0-9 and "-", beginning with a letter: the bot's name in configurations, the package's and the
    /// program's.
    let text: String

    /// Targets of this package, whose names a package that uses it cannot have again, and what SwiftPM makes itself.
    private static let taken = Set(BotRegistry.included.names).union(["pikabot"])

    init(_ text: String) throws(CommandError) {
        let isName =
            (1...32).contains(text.utf8.count) && text.utf8.first.map { (0x61...0x7a).contains($0) } == true
            && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
            && !text.hasSuffix("-")
        guard isName else {
            throw CommandError(
                "\(text): a bot's name is 1 to 32 of a-z, 0-9 and \"-\", begins with a letter and ends with none of \"-\""
            )
        }
        guard !Self.taken.contains(text) else {
            throw CommandError("\(text): a bot of this name comes with pikabot; choose another name")
        }
        self.text = text
    }

    /// `HelloWorld` for `hello-world`.
    private var capitalized: String {
        text.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The type and the target it is in.
    var type: String { capitalized + "Bot" }
    var program: String { capitalized + "Program" }
    var tests: String { type + "Tests" }
}
