import ArgumentParser
import BotProgram
import BotRuntime
import Daemon
import Foundation
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct DaemonCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "daemon", abstract: "Serve the account to programs over JSON lines, like pikachat daemon.",
            discussion: """
                Commands are read from standard input and from daemon.sock in the state directory, one JSON object per \
                line; replies and events are written the same way. The first line is `ready`. The end of standard input \
                does not end the daemon; `shutdown`, SIGTERM and SIGINT do. The exit status is 79 if a later copy of the \
                account is started. Without --relay it uses ws://127.0.0.1:18080.
                """,
            subcommands: [Run.self, Token.self], defaultSubcommand: Run.self)

        struct Run: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "run", abstract: "Run the daemon (default).", shouldDisplay: false)

            @OptionGroup var client: ClientOptions
            @OptionGroup var options: DaemonOptions

            func run() async throws {
                StandardErrorLog.bootstrap(level: .info)
                let host = try DaemonHost(
                    stateDirectory: try client.accountFolder(),
                    accounts: AccountDirectory(path: client.stateDirectory), relays: client.relays.map(\.url),
                    allowsPrivateAddresses: client.allowsPrivateAddresses, options: options,
                    environment: ProcessInfo.processInfo.environment, logger: Logger(label: "daemon"))
                do { try await host.run() } catch {
                    let failure = WorkerFailure(error)
                    Console.printError("Error: \(failure.message)")
                    throw failure.status
                }
            }
        }

        struct Token: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "token", abstract: "Create a token for a client of the daemon's socket.",
                discussion: "The token is printed once; only its hash is stored. A running daemon accepts it at once.")

            @OptionGroup var client: ClientOptions
            @Option(help: "Permissions of the token: read or full.") var scope: TokenScope = .read
            @Option(help: "Name of the token.") var name = "client"

            func run() async throws {
                let text = try TokenFile(stateDirectory: try client.accountFolder()).add(name: name, scope: scope.value)
                let output: JSONValue = [
                    "name": .string(name), "scope": .string(scope.rawValue), "token": .string(text),
                ]
                Console.printText(output.prettyText)
            }
        }
    }
}

/// The daemon's own options.
struct DaemonOptions: ParsableArguments {
    @Option(
        name: .customLong("giftwrap-lookback-sec"),
        help: "Ignored, for compatibility: invitations are always read from the end of the last run.")
    var giftwrapLookback: UInt64 = 259_200

    @Option(
        name: .customLong("allow-pubkey"),
        help: "Accept invitations and messages only from this account; may be repeated. (default: from anyone)")
    var allowed: [PublicKeyArgument] = []

    @Flag(name: .customLong("auto-accept-welcomes"), help: "Accept invitations automatically.")
    var acceptsWelcomes = false

    @Option(help: "Run this shell command: its output is read as commands, its input receives replies and events.")
    var exec: String?

    @Flag(name: .customLong("require-token"), help: "Clients of the socket must authenticate with a token (hello).")
    var requiresToken = false
}

/// A key on the command line, as hex or npub.
struct PublicKeyArgument: ExpressibleByArgument {
    let key: PublicKey

    init?(argument: String) {
        guard let key = try? PublicKey(parsing: argument.trimmingCharacters(in: .whitespaces)) else { return nil }
        self.key = key
    }
}

enum TokenScope: String, ExpressibleByArgument, CaseIterable {
    case full, read

    var value: DaemonToken.Scope {
        switch self {
        case .full: .full
        case .read: .read
        }
    }
}
