package import ArgumentParser
package import BotConfiguration
public import BotKit
import Foundation

/// A program that runs bots: the implementation of `pikabot`, for packages with their own bots.
///
/// ```swift
/// @main
/// struct Program {
///     static func main() async {
///         await BotProgram.run(bots: GreeterBot.self)
///     }
/// }
/// ```
///
/// Its command line selects the role: a supervisor (`run FILE`), the worker that the supervisor starts for each
/// account, or an operator's tool (`check`, `doctor`, `backup` …).
public enum BotProgram {
    /// The bots that the configuration files of this program may name with `use:`.
    @TaskLocal package static var registry = BotRegistry()

    /// Runs the command line and exits with its status.
    ///
    /// - Parameter bots: The bots that configuration files may name. Two bots with the same name are a programming
    ///   error and trap.
    public static func run(bots: any Bot.Type...) async {
        var registry = BotRegistry()
        for bot in bots { registry.register(bot) }
        await run(Root.self, registry: registry, arguments: Array(CommandLine.arguments.dropFirst()))
    }

    /// Does the same with the program's own commands.
    package static func run(
        _ root: (some AsyncParsableCommand).Type, registry: BotRegistry, leading: LeadingOptions = .none,
        arguments: [String]
    ) async {
        await $registry.withValue(registry) {
            do {
                try await perform(root, try leading.moved(arguments, in: root))
            } catch {
                exit(reporting: CommandFailure(error, of: root))
            }
            Foundation.exit(0)
        }
    }

    private static func perform(_ root: (some AsyncParsableCommand).Type, _ arguments: [String]) async throws {
        var command = try await root.asyncParseAsRoot(arguments)
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    private static func exit(reporting failure: CommandFailure) -> Never {
        if failure.text.isEmpty {
            // All output has been printed already.
        } else if failure.status.isSuccess {
            Console.printText(failure.text)
        } else {
            Console.printErrorText(failure.text)
        }
        Foundation.exit(failure.status.rawValue)
    }

    /// The commands of every program of bots.
    package static let commands: [any ParsableCommand.Type] = [
        Run.self, Status.self, Logs.self, Restart.self, Stop.self, Reload.self, Why.self, Quarantine.self, Pause.self,
        Resume.self, ConsoleCommand.self, Check.self, DoctorCommand.self, Backup.self, Restore.self, WorkerCommand.self,
    ]

    package static let exitStatuses = """
        Exit status: 0 done, 1 failed, 2 not ready (status) or unreachable (probe), 3 no supervisor runs (status, logs, restart, stop, reload), \
        64 usage error, 75 disk full or not writable, 78 invalid configuration file, 79 a later copy of the \
        account runs, 80 no key, 81 unknown bot or invalid bot settings, 82 remote signer refused, 83 another process \
        uses the state directory, 84 the state is damaged, or belongs to another account, key or version.
        """
}

extension BotProgram {
    /// The command line of a program without further commands.
    private struct Root: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: Executable.name,
            abstract: "Bots in end-to-end encrypted groups: MLS over Nostr relays.", discussion: exitStatuses,
            subcommands: commands)
    }
}
