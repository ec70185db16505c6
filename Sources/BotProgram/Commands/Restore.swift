package import ArgumentParser
import Foundation
import Nostr
import Storage

extension BotProgram {
    package struct Restore: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Restore a backup into a directory without state.",
            discussion: """
                The account continues as another copy: when started, it renews its keys in every group before it \
                sends anything, and an earlier copy exits when it sees this one on a relay. Stop the \
                other copy first nevertheless.
                """)

        @Argument(help: "The backup.") var file: String

        @Option(
            name: [.customLong("state"), .customLong("state-dir")],
            help: "The directory to restore into; created if missing.")
        var state: String

        @Option(help: "The sealing.key of the account; copied into the directory. (default: the existing one)")
        var sealingKey: String?

        package init() {}

        package func run() throws {
            let place = state + "/sealing.key"
            let isThere = FileManager.default.fileExists(atPath: place)
            guard sealingKey != nil || isThere else {
                throw CommandError(
                    "\(place): no such file; copy the account's sealing key there, or pass it as --sealing-key"
                )
            }
            guard sealingKey == nil || !isThere else {
                throw CommandError("\(place): already exists; omit --sealing-key, or choose another directory")
            }
            let key = try SealingKey.load(file: sealingKey ?? place)
            try StateBackup.restore(
                file, to: state, sealingKey: key, nowMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            if sealingKey != nil { try key.save(newFile: place) }
            let output: JSONValue = ["state": .string(state)]
            Console.printText(output.prettyText)
        }
    }
}
