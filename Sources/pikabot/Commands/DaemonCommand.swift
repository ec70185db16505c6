import ArgumentParser
import BotProgram
import Daemon
import Foundation
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct DaemonCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "daemon", abstract: "Run the account for a program that speaks JSON lines (pikachat daemon).",
            discussion: """
                Commands come in on standard input and on daemon.sock in the state directory, one JSON object a line; \
                replies and events go out the same way. The first line is `ready`. The end of standard input does not \
                end it; `shutdown`, SIGTERM and SIGINT do. It ends with status 79 when a later copy of the account is \
                started. Without --relay it uses ws://127.0.0.1:18080.
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
                    stateDirectory: client.stateDirectory, relays: client.relays.map(\.url),
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
                commandName: "token", abstract: "Make a token for a client of the daemon's socket.",
                discussion: "Prints it once; the state directory keeps its hash. A running daemon takes note of it.")

            @OptionGroup var client: ClientOptions
            @Option(help: "What it allows: read or full.") var scope: TokenScope = .read
            @Option(help: "What to call it.") var name = "client"

            func run() async throws {
                let text = try TokenFile(stateDirectory: client.stateDirectory).add(name: name, scope: scope.value)
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
        help: "Taken for the sake of callers: invitations are read from where the last run has ended.")
    var giftwrapLookback: UInt64 = 259_200

    @Option(
        name: .customLong("allow-pubkey"),
        help: "Only this account may invite and be heard; may be repeated. (default: everybody)")
    var allowed: [PublicKeyArgument] = []

    @Flag(name: .customLong("auto-accept-welcomes"), help: "Accept invitations without being asked.")
    var acceptsWelcomes = false

    @Option(help: "Run this shell command: its output is the commands, its input the replies and events.")
    var exec: String?

    @Flag(name: .customLong("require-token"), help: "Clients of the socket must say hello with a token.")
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
