package import ArgumentParser
import Foundation
import Nostr
import Storage

extension BotProgram {
    package struct Restore: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Put the state of a backup into a directory that holds none.",
            discussion: """
                The same account goes on, as another copy: when it starts it renews its keys in every group before it \
                sends anything, and a copy that was started earlier ends when it sees this one on a relay. Stop the \
                other copy first all the same.
                """)

        @Argument(help: "The backup.") var file: String

        @Option(
            name: [.customLong("state"), .customLong("state-dir")],
            help: "The folder to restore into; made if it is not there.")
        var state: String

        @Option(help: "The sealing.key of the account; copied into the folder. (default: the one that is there)")
        var sealingKey: String?

        package init() {}

        package func run() throws {
            let place = state + "/sealing.key"
            let isThere = FileManager.default.fileExists(atPath: place)
            guard sealingKey != nil || isThere else {
                throw CommandError(
                    "\(place): there is no such file; copy the account's sealing key there, or name it with --sealing-key"
                )
            }
            guard sealingKey == nil || !isThere else {
                throw CommandError("\(place): is there already; leave --sealing-key out, or name another folder")
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
