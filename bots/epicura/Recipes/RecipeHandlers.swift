import Appliance
import BotKit

/// The commands about recipes.
enum RecipeHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        OnCommand("recipes") { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            guard let list = try await kitchen.listRecipes(command.text, for: context.chatID, waits: true) else {
                return
            }
            context.reply(list)
        }
        OnCommand("recipe", arguments: [.rest("recipe")]) { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            guard let recipe = try await kitchen.recipe(command.text, for: context.chatID) else {
                context.reply(await kitchen.text(.recipesNone, for: context.chatID))
                return
            }
            context.reply(await kitchen.card(recipe, for: context.chatID))
            guard recipe.imagePath != nil else { return }
            let id = "picture-\(command.message.id.hex)"
            try await kitchen.change { state, _ in
                state.tell(Notice(id: id, chat: context.chatID.rawValue, .picture(recipe: recipe.id)))
            }
        }
    }
}
