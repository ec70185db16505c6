import Appliance
import BotKit

/// The commands about appliances, preferences and history.
enum HouseholdHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        OnCommand("status") { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            await kitchen.requestSynchronization()
            context.reply(await kitchen.status(for: context.chatID))
        }
        OnCommand("rename", arguments: [.integer("number", in: 1...32), .rest("name")]) { command, context in
            guard let number = command.integer("number"), let name = command.string("name") else { return }
            let kitchen = try await Kitchen.of(context, settings)
            let id = "rename-\(command.message.id.hex)"
            let answer = await kitchen.rename(number, to: name, id: id, for: context.chatID)
            if let answer { context.reply(answer) }
        }
        OnCommand("history") { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(await kitchen.history(for: context.chatID))
        }
        OnCommand("rate", arguments: [.integer("stars", in: 1...5)]) { command, context in
            guard let stars = command.integer("stars") else { return }
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(try await kitchen.rateLast(stars, for: context.chatID))
        }
        OnReaction { reaction, context in
            let kitchen = try await Kitchen.of(context, settings)
            guard let target = reaction.target,
                let answer = try await kitchen.rate(
                    byReaction: reaction.content, to: target, for: context.chatID)
            else { return }
            context.send(answer)
        }
        OnCommand("allergens", arguments: [.word("person").optional, .rest("list").optional]) { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            guard let person = command.string("person"), let list = command.string("list") else {
                context.reply(await kitchen.allergens(for: context.chatID))
                return
            }
            context.reply(try await kitchen.setAllergens(list, of: person, for: context.chatID))
        }
        OnCommand("prefs", arguments: [.word("name").optional, .rest("value").optional]) { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            guard let name = command.string("name"), let value = command.string("value") else {
                context.reply(await kitchen.preferences(for: context.chatID))
                return
            }
            context.reply(try await kitchen.setPreference(name, to: value, for: context.chatID))
        }
        OnCommand("language", arguments: [.word("code")]) { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(try await kitchen.setLanguage(command.string("code") ?? "", for: context.chatID))
        }
        OnCommand("help") { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(await kitchen.text(.help, for: context.chatID))
        }
    }
}
