package import ArgumentParser
import Nostr
import Telemetry

extension BotProgram {
    package struct Restart: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Restart an account's process, even a quarantined or stopped one.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account; all by default.") var account: String?

        package init() {}

        package func run() throws { try options.sendAccountCommand("restart", account, "restarting") }
    }

    package struct Stop: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Stop an account until it is restarted; without a name, stop everything and wait for the exit.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account; all and their supervisor by default.") var account: String?

        package init() {}

        package func run() throws {
            let client = try options.sendAccountCommand("stop", account, "stopping")
            guard account == nil else { return }
            while try client.next() != nil {}
        }
    }

    package struct Reload: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Reload the configuration file, as SIGHUP does.",
            discussion: """
                Prints the applied changes, the changes that need a restart, and the accounts that rejected changes. The \
                exit status is 1 if an account rejected changes or if the file is invalid; an invalid file changes nothing.
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
    fileprivate func sendAccountCommand(_ command: String, _ account: String?, _ word: String) throws -> ControlClient {
        let client = try ControlClient(self)
        var parameters = JSONObject()
        parameters["account"] = account.map { .string($0) }
        let result = try client.call(command, parameters)
        let names = result["accounts"]?.array?.compactMap(\.string) ?? []
        Console.printText(json ? result.prettyText : "\(word): \(names.joined(separator: ", "))".terminalLine)
        return client
    }
}
