package import BotKit
import Nostr
package import PikaCore

/// Commands to the runtime, which are handled before any bot.
extension Admission {
    /// The scope of the runtime's own values; a bot's name never contains a slash.
    package static let scope = "pikabot/bots"

    /// Returns the effect that makes a pause durable.
    package static func pauseEffect(_ isPaused: Bool, _ bot: String, id: String) -> HandlerEffect {
        HandlerEffect(
            id: id, operation: .putValue(scope: scope, key: "paused/\(bot)", value: isPaused ? [1] : nil))
    }

    /// Loads the pauses of earlier processes. A bot whose pause cannot be read is paused.
    package func load(_ bots: [String], from core: any HandlerCore) async {
        for bot in bots {
            do {
                let value = try await core.value(scope: Self.scope, key: "paused/\(bot)")
                if value != nil { setPaused(true, bot) }
            } catch {
                setPaused(true, bot)
            }
        }
    }

    /// Runs a command to the runtime: returns its effects, or nil if the event is not such a command but is for the
    /// bots. Authors who are not operators get no reply.
    package func operate(
        _ event: CoreEvent, bots: [String], in scope: EventScope, nowMilliseconds now: Int64
    ) -> [HandlerEffect]? {
        guard case .message(let message) = event.content, message.sender != scope.account,
            let command = OperatorCommand(message, in: scope)
        else { return nil }
        guard operators.contains(message.sender) else {
            ignore(event, for: nil, .notOperator, nowMilliseconds: now)
            return []
        }
        let (text, operations) = perform(command, bots: bots, in: event.chatID)
        journal.note(
            JournalEntry(
                event, at: UnixTime(milliseconds: now), bot: nil, .done, detail: "an operator's command"))
        let reply = HandlerEffect.Operation.send(
            chatID: event.chatID, .reply(text, to: message, in: scope.chat))
        return ([reply] + operations).enumerated().map {
            HandlerEffect(id: "\(Self.scope)/\(event.inputID)/\($0.offset)", operation: $0.element)
        }
    }

    private func perform(
        _ command: OperatorCommand, bots: [String], in chatID: ChatID
    ) -> (text: String, operations: [HandlerEffect.Operation]) {
        switch command {
        case .help: return (Self.help, [])
        case .status: return (bots.isEmpty ? "no bots" : bots.map(line).joined(separator: "\n"), [])
        case .pause(let name): return pause(true, name, among: bots)
        case .resume(let name): return pause(false, name, among: bots)
        case .leave: return ("leaving this chat", [.dispatch(.leaveGroup(chatID: chatID))])
        case .unknown(let name):
            return ("unknown command \(OperatorCommand.prefix)\(name.prefix(20))\n\(Self.help)", [])
        }
    }

    private static let help = """
        !!status: list the bots and their event counts
        !!pause [BOT]: stop delivering events to one bot, or to all
        !!resume [BOT]: deliver events again; events during the pause are skipped
        !!leave: leave this chat
        """

    private func line(_ bot: String) -> String {
        let counts = counts(of: bot)
        return "\(bot): \(isPaused(bot) ? "paused" : "active"); since the start \(counts.handled) handled, "
            + "\(counts.ignored) ignored, \(counts.failed) failed"
    }

    private func pause(
        _ isPaused: Bool, _ name: String?, among bots: [String]
    ) -> (text: String, operations: [HandlerEffect.Operation]) {
        let named = name.map { name in bots.filter { $0 == name } } ?? bots
        guard !named.isEmpty else { return ("no such bot; available: \(bots.joined(separator: ", "))", []) }
        for bot in named { setPaused(isPaused, bot) }
        let operations = named.map { Self.pauseEffect(isPaused, $0, id: "").operation }
        return ("\(isPaused ? "paused" : "resumed"): \(named.joined(separator: ", "))", operations)
    }
}
