import ArgumentParser
import BotRuntime
import Nostr

extension Pikabot {
    struct Accounts: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the accounts of the state directory, without connecting to relays.")
        static let view = ResultView.list(
            of: "accounts",
            [
                .init("ACCOUNT", "npub"), .init("KEY", "key"), .init("LOGGED IN", "logged_in"),
                .init("CURRENT", "current"),
            ],
            none: "No accounts yet. `pikabot login` creates one.")

        @OptionGroup var options: ClientOptions

        func perform() throws -> JSONValue {
            ["accounts": .array(try AccountDirectory(path: options.stateDirectory).readEntries().map(\.json))]
        }
    }
}
