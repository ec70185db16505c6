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
        let diagnostics = DemoStage.Diagnostics()
        do {
            try await withTemporaryDirectory(named: "pikabot-demo") { directory in
                try await withDemoStage(in: directory, diagnostics: diagnostics, logger: logger) { stage in
                    try await play(on: stage, steps)
                }
            }
        } catch let status as ExitCode {
            throw status
        } catch {
            for line in diagnostics.last { Console.printError("worker: \(line)") }
            throw steps.failure(error)
        }
    }

    private func play(on stage: DemoStage, _ steps: DemoSteps) async throws {
        let (console, summary) = (DemoConsole(), DemoSummary())
        let conversation = DemoConversation(
            stage: stage, console: console, steps: steps, summary: summary, logger: logger)
        try await cancelWhenGracefulShutdown { try await conversation.play() }
        Console.print(summary.text(after: console.elapsed))
        guard keeps else { return }
        Console.printText(howToTalk(to: stage))
        try? await gracefulShutdown()
    }

    private func howToTalk(to stage: DemoStage) -> String {
        """

        Relay and bot stay until you press Control-C. Invite the bot from any Marmot client:
            relay  \(stage.relay)
            bot    \(stage.bot.npub)
        or from another terminal, a line of JSON a command:
            \(Executable.path) lab-member --relay \(stage.relay)
            {"cmd": "create_group", "name": "mine", "members": ["\(stage.bot.npub)"]}
            {"cmd": "send", "group": "<group of the answer>", "content": "Hello!"}
        """
    }
}
