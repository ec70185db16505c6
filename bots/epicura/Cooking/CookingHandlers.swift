import Appliance
import BotKit

/// The commands of cooking.
enum CookingHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        // The bot's limits do not apply.
        OnCommand("stop", isUrgent: true) { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(await stop(command, kitchen, context))
        }
        OnCommand("cook", arguments: [.rest("recipe")]) { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(try await cook(command, kitchen, context))
        }
        for kind in [CommandKind.pause, .resume, .next, .cancel] {
            OnCommand(kind.rawValue) { command, context in
                let kitchen = try await Kitchen.of(context, settings)
                // In a private chat `/cancel` ends pairing first.
                if kind == .cancel, await kitchen.cancelPairing(in: context.chatID) { return }
                switch await kitchen.choose(reference(command), for: context.chatID) {
                case .unclear(let text): context.reply(text)
                case .appliance(let appliance):
                    let answer = try await kitchen.command(
                        kind, to: appliance.id, id: id(command, kind.rawValue), chat: context.chatID)
                    if let answer { context.reply(answer) }
                }
            }
        }
    }

    private static func cook(_ command: Command, _ kitchen: Kitchen, _ context: BotContext) async throws -> String {
        let chat = context.chatID
        let wish = CookRequest(command.text)
        guard let recipe = try await kitchen.recipe(wish.recipe, for: chat) else {
            return await kitchen.text(.recipesNone, for: chat)
        }
        switch await kitchen.choose(wish.appliance, for: chat) {
        case .unclear(let text): return text
        case .appliance(let appliance):
            return try await kitchen.cook(
                recipe, servings: wish.servings ?? recipe.servings, on: appliance.id, order: id(command, "start"),
                chat: chat, person: command.message.sender)
        }
    }

    private static func stop(_ command: Command, _ kitchen: Kitchen, _ context: BotContext) async -> String {
        let all = await kitchen.state.household.appliances
        let wanted: [ApplianceRecord]
        if let reference = reference(command) {
            // An unclear name stops everything: a stop too many is harmless.
            if case .appliance(let appliance) = await kitchen.choose(reference, for: context.chatID) {
                wanted = [appliance]
            } else {
                wanted = all
            }
        } else {
            wanted = all
        }
        guard !wanted.isEmpty else { return await kitchen.text(.applianceNone, for: context.chatID) }
        await kitchen.emergencyStop(
            wanted.map { $0.id }, id: id(command, "stop"), chat: context.chatID, person: command.message.sender)
        return await kitchen.text(.stopSent, for: context.chatID)
    }

    static func reference(_ command: Command) -> String? {
        guard !command.text.isEmpty else { return nil }
        return command.text.hasPrefix("@") ? String(command.text.dropFirst()) : command.text
    }

    /// An id for the API, which is the same when the handler runs again: 1 to 64 letters and digits.
    private static func id(_ command: Command, _ kind: String) -> String {
        "\(kind)-\(command.message.id.hex.prefix(40))"
    }
}
