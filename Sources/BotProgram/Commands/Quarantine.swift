package import ArgumentParser
import Nostr

extension BotProgram {
    package struct Quarantine: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "List quarantined items, which crashed workers; release or drop one.",
            discussion: """
                An entry is an event, a group, a stored row, a message of a relay, all of a relay, or all gift wraps. A \
                released event is processed again at once, a released group or row after a restart of the account. A \
                dropped event is never processed again; a dropped group or row is deleted.
                """)

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account; all by default.") var account: String?
        @Option(help: "Release the entry whose name has this prefix.") var release: String?
        @Option(help: "Drop the entry whose name has this prefix.") var drop: String?

        package init() {}

        package func validate() throws {
            guard release == nil || drop == nil else {
                throw ValidationError("--release and --drop exclude each other")
            }
            guard account != nil || (release == nil && drop == nil) else {
                throw ValidationError("--release and --drop require an account")
            }
        }

        package func run() throws {
            var parameters: JSONObject = [:]
            parameters["account"] = account.map { .string($0) }
            parameters["release"] = release.map { .string($0) }
            parameters["drop"] = drop.map { .string($0) }
            let result = try ControlClient(options).call("quarantine", parameters)
            let view = QuarantineView(result, of: account)
            guard !view.isFailure else { throw CommandError(view.text) }
            Console.print(options.json ? result.prettyText : view.text)
        }
    }
}
