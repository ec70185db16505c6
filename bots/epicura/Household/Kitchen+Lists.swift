import Appliance
import BotKit

/// The shopping list and the planned meals of a chat.
extension Kitchen {
    /// A change of the shopping list.
    enum GroceryChange: Hashable, Sendable {
        case item(String)
        case check(Int, Bool)
        case clear
    }

    func groceries(for chat: ChatID) -> String {
        let lines = state.household.chats[chat.rawValue]?.groceries.checklist ?? []
        guard !lines.isEmpty else { return text(.groceriesEmpty, for: chat) }
        return ([text(.groceriesTitle, for: chat)] + lines).joined(separator: "\n")
    }

    /// Throws `ApplianceError.Code.full`.
    func addGroceries(_ recipe: Recipe, servings: Int, for chat: ChatID) async throws -> String {
        try await change { state, _ in
            try state.household.chats[chat.rawValue, default: ChatState()].groceries.add(recipe, servings: servings)
        }
        return text(.groceriesAdded, ["title": recipe.title], for: chat)
    }

    /// Throws the errors of ``GroceryList``.
    func change(_ change: GroceryChange, for chat: ChatID) async throws -> String {
        try await self.change { state, _ in
            var chatState = state.household.chats[chat.rawValue] ?? ChatState()
            switch change {
            case .item(let name): try chatState.groceries.add(name)
            case .check(let number, let isChecked): try chatState.groceries.setChecked(isChecked, number: number)
            case .clear: chatState.groceries.removeChecked()
            }
            state.household.chats[chat.rawValue] = chatState
        }
        return groceries(for: chat)
    }

    // MARK: Planned meals

    func plan(for chat: ChatID) -> String {
        let meals = state.household.chats[chat.rawValue]?.plan?.meals ?? []
        guard !meals.isEmpty else { return text(.planEmpty, for: chat) }
        return meals.enumerated().map { "\($0 + 1). \($1.time.text) \($1.title) (\($1.servings))" }
            .joined(separator: "\n")
    }

    /// Changes the plan, which is created with the settings' time zone.
    private func changePlan(
        for chat: ChatID, _ body: @Sendable (inout MealPlan, UnixTime) throws -> Void
    ) async throws {
        let settings = settings
        try await change { state, now in
            var chatState = state.household.chats[chat.rawValue] ?? ChatState()
            var plan =
                try chatState.plan ?? MealPlan(zone: settings.timeZone, minutesBefore: settings.remindBefore)
            try body(&plan, now)
            chatState.plan = plan
            state.household.chats[chat.rawValue] = chatState
        }
    }

    /// Plans a meal; `id` is the same when the handler runs again.
    func plan(
        _ recipe: Recipe, servings: Int, at time: LocalTime, id: String, for chat: ChatID
    ) async throws -> String {
        do {
            try await changePlan(for: chat) { plan, now in
                guard !plan.meals.contains(where: { $0.id == id }) else { return }
                try plan.schedule(id: id, recipe, servings: servings, at: time, now: now)
            }
        } catch let error as ApplianceError where error.code == .malformed {
            return text(.planTimeWrong, for: chat)
        }
        return text(.planAdded, ["title": recipe.title, "time": time.text], for: chat)
    }

    func removeMeal(_ number: Int, for chat: ChatID) async throws -> String {
        try await changePlan(for: chat) { plan, _ in
            let index = number.clampedSubtracting(1)
            guard plan.meals.indices.contains(index) else { throw ApplianceError(.notFound, "no meal \(number)") }
            try plan.remove(plan.meals[index].id)
        }
        return plan(for: chat)
    }

    /// Throws `ApplianceError.Code.malformed` for an unknown zone, or minutes out of range.
    func configurePlan(zone: String?, minutesBefore: Int?, for chat: ChatID) async throws -> String {
        try await changePlan(for: chat) { plan, _ in
            try plan.configure(zone: zone ?? plan.zone, minutesBefore: minutesBefore ?? plan.minutesBefore)
        }
        return plan(for: chat)
    }

    // MARK: Language

    func setLanguage(_ name: String, for chat: ChatID) async throws -> String {
        guard let language = Language(parsing: name) else {
            let names = Language.allCases.map { "\($0.rawValue) (\($0.ownName))" }.joined(separator: ", ")
            return text(.unknownLanguage, ["languages": names], for: chat)
        }
        try await update { state, _ in
            state.household.chats[chat.rawValue, default: ChatState()].language = language
            state.household.chats[chat.rawValue]?.listed = []
            return ((), state.household.recipeTimes[language] == nil ? [.synchronize] : [])
        }
        return text(.languageSet, ["language": language.ownName], for: chat)
    }
}
