import BotConfiguration
import BotProgram

/// A new bot's name, and the names derived from it.
struct NewBotName: Hashable, Sendable {
    /// 1 to 32 characters a-z, 0-9 and "-", starting with a letter: the name of the bot in configurations, of the
    /// package and of the program.
    let text: String

    /// Names whose targets or products would conflict with those of pikabot, on which the new package depends.
    private static let reserved = Set(BotRegistry.included.names).union(["pikabot"])

    /// The targets of pikabot that have the form of a new package's targets. A package graph has each target once.
    static let takenTargets = [
        "BotProgram", "EchoBot", "EpicuraBot", "GroupCanaryBot", "KeyPackageProbeBot", "NotesBot", "RelayProbeBot",
        "ResponderBot", "VoicemailBot",
    ]

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
        guard !Self.reserved.contains(text) else {
            throw CommandError("\(text): the name of pikabot or of a built-in bot; choose another one")
        }
        self.text = text
        for target in [type, program] {
            // Some file systems ignore case.
            let taken = Self.takenTargets.first { $0.lowercased() == target.lowercased() }
            guard let taken else { continue }
            throw CommandError(
                "\(text): its target \(target) would collide with pikabot's target \(taken); choose another name")
        }
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
