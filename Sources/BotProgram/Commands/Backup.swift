package import ArgumentParser
import Nostr
import Storage

extension BotProgram {
    package struct Backup: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Back up the state of an account into one file; the account may be running.",
            discussion: """
                Values stay sealed in the file. Restoring it requires the sealing.key of the same directory and the \
                account's own key, which are not in the backup: store them elsewhere, separately from the backups.
                """)

        @Option(
            name: [.customLong("state"), .customLong("state-dir")],
            help: "The account's state: the directory named after the account in the configuration's state directory.")
        var state: String

        @Option(help: "The file to write; an existing file is replaced.") var to: String

        package init() {}

        package func run() throws {
            let bytes = try StateBackup.write(of: state, to: to)
            let output: JSONValue = ["file": .string(to), "bytes": .integer(Int64(bytes))]
            Console.printText(output.prettyText)
        }
    }
}
