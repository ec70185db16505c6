package import ArgumentParser
import Nostr

extension BotProgram {
    package struct Restart: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Start an account's process anew; also one that is quarantined or stopped.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account; none: all.") var account: String?

        package init() {}

        package func run() throws { try options.steer("restart", account, "restarting") }
    }

    package struct Stop: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Stop an account until it is restarted; without a name, everything, and wait for the end.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account; none: all, and their supervisor.") var account: String?

        package init() {}

        package func run() throws {
            let client = try options.steer("stop", account, "stopping")
            guard account == nil else { return }
            while try client.next() != nil {}
        }
    }

    package struct Reload: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Have the configuration file read anew, as SIGHUP does.",
            discussion: "Prints what changed at once and what must wait; a wrong file changes nothing.")

        @OptionGroup var options: ControlOptions

        package init() {}

        package func run() throws {
            let result = try ControlClient(options).call("reload")
            guard !options.json else { return Console.print(result.prettyText) }
            let parts = [("applied", "now"), ("waiting", "later"), ("refused", "refused")]
            let lines = parts.flatMap { member, word in
                (result[member]?.array ?? []).compactMap(\.string).map { "\(word): \($0)" }
            }
            Console.print(lines.isEmpty ? "nothing has changed" : lines.joined(separator: "\n"))
        }
    }
}

extension ControlOptions {
    /// Has something done to one account or all, and says to which; the connection is open still.
    @discardableResult
    fileprivate func steer(_ command: String, _ account: String?, _ word: String) throws -> ControlClient {
        let client = try ControlClient(self)
        var parameters = JSONObject()
        parameters["account"] = account.map { .string($0) }
        let result = try client.call(command, parameters)
        let names = result["accounts"]?.array?.compactMap(\.string) ?? []
        Console.print(json ? result.prettyText : "\(word): \(names.joined(separator: ", "))")
        return client
    }
}
