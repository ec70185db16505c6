import Appliance
import BotKit

/// `/groceries` and `/plan`.
enum ListHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        OnCommand("groceries") { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(try await groceries(command, kitchen, context))
        }
        OnCommand("plan") { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(try await plan(command, kitchen, context))
        }
    }

    private static func groceries(
        _ command: Command, _ kitchen: Kitchen, _ context: BotContext
    ) async throws -> String {
        let chat = context.chatID
        let (word, rest) = split(command.text)
        switch (word, Int(rest)) {
        case ("add", _):
            let wish = CookRequest(rest)
            guard let recipe = try await kitchen.recipe(wish.recipe, for: chat) else {
                return await kitchen.text(.recipesNone, for: chat)
            }
            return try await kitchen.addGroceries(recipe, servings: wish.servings ?? recipe.servings, for: chat)
        case ("item", _) where !rest.isEmpty: return try await kitchen.change(.item(rest), for: chat)
        case ("check", let number?): return try await kitchen.change(.check(number, true), for: chat)
        case ("uncheck", let number?): return try await kitchen.change(.check(number, false), for: chat)
        case ("clear", _): return try await kitchen.change(.clear, for: chat)
        default: return await kitchen.groceries(for: chat)
        }
    }

    private static func plan(_ command: Command, _ kitchen: Kitchen, _ context: BotContext) async throws -> String {
        let chat = context.chatID
        let (word, rest) = split(command.text)
        switch (word, Int(rest)) {
        case ("", _): return await kitchen.plan(for: chat)
        case ("remove", let number?): return try await kitchen.removeMeal(number, for: chat)
        case ("zone", _): return try await kitchen.configurePlan(zone: rest, minutesBefore: nil, for: chat)
        case ("before", let minutes?):
            return try await kitchen.configurePlan(zone: nil, minutesBefore: minutes, for: chat)
        default:
            let (clock, meal) = split(rest)
            guard let time = try? LocalTime(parsing: "\(word) \(clock)") else {
                return await kitchen.text(.planTimeWrong, for: chat)
            }
            let wish = CookRequest(meal)
            guard let recipe = try await kitchen.recipe(wish.recipe, for: chat) else {
                return await kitchen.text(.recipesNone, for: chat)
            }
            return try await kitchen.plan(
                recipe, servings: wish.servings ?? recipe.servings, at: time, id: command.message.id.hex, for: chat)
        }
    }

    /// The first word in lower case, and the rest.
    private static func split(_ text: String) -> (word: String, rest: String) {
        let parts = text.split(maxSplits: 1) { $0.isWhitespace }
        return (parts.first?.lowercased() ?? "", parts.count == 2 ? String(parts[1].drop { $0.isWhitespace }) : "")
    }
}
