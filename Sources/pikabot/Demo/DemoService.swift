import ArgumentParser
import BotProgram
import Logging
import Nostr
import ServiceLifecycle

/// Runs the demo, from creating its folder to removing it.
struct DemoService: Service {
    /// Whether relay and bot keep running until a signal arrives.
    let keeps: Bool
    let logger: Logger

    func run() async throws {
        let steps = DemoSteps()
        let diagnostics = DemoEnvironment.Diagnostics()
        do {
            try await withTemporaryDirectory(named: "pikabot-demo") { directory in
                try await withDemoEnvironment(in: directory, diagnostics: diagnostics, logger: logger) { environment in
                    try await play(on: environment, steps)
                }
            }
        } catch let status as ExitCode {
            throw status
        } catch {
            for line in diagnostics.last { Console.printError("worker: \(line)") }
            throw steps.failure(error)
        }
    }

    private func play(on environment: DemoEnvironment, _ steps: DemoSteps) async throws {
        let (console, summary) = (DemoConsole(), DemoSummary())
        let conversation = DemoConversation(
            environment: environment, console: console, steps: steps, summary: summary, logger: logger)
        try await cancelWhenGracefulShutdown { try await conversation.play() }
        Console.print(summary.text(after: console.elapsed))
        guard keeps else { return }
        Console.printText(usageHints(for: environment))
        try? await gracefulShutdown()
    }

    private func usageHints(for environment: DemoEnvironment) -> String {
        let guest = "--state-dir guest --relay \(environment.relay)"
        return """

            Relay and bot keep running until you press Control-C. Invite the bot from any Marmot client:
                relay  \(environment.relay)
                bot    \(environment.bot.npub)
            or write to it from another terminal, as a new account in the folder guest:
                \(Executable.path) send \(guest) --to \(environment.bot.npub) --content Hello
                \(Executable.path) listen \(guest)
            """
    }
}
