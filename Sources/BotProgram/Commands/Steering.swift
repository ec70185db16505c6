package import ArgumentParser
import Nostr
import Telemetry

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
            discussion: """
                Prints what changed at once, what must wait, and which accounts have not taken what changed; then, and \
                if the file is wrong, which changes nothing, the exit status is 1.
                """)

        @OptionGroup var options: ControlOptions

        package init() {}

        package func run() throws {
            let result = try ControlClient(options).call("reload")
            Console.printText(options.json ? result.prettyText : ReloadView(result: result).text)
            guard ReloadView(result: result).isGood else { throw ExitCode.failure }
        }
    }
}

extension ControlOptions {
    /// Sends a command about one account or all, and prints which; returns the open connection.
    @discardableResult
    fileprivate func steer(_ command: String, _ account: String?, _ word: String) throws -> ControlClient {
        let client = try ControlClient(self)
        var parameters = JSONObject()
        parameters["account"] = account.map { .string($0) }
        let result = try client.call(command, parameters)
        let names = result["accounts"]?.array?.compactMap(\.string) ?? []
        Console.printText(json ? result.prettyText : "\(word): \(names.joined(separator: ", "))".terminalLine)
        return client
    }
}
