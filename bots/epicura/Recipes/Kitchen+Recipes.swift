import Appliance
import BotKit

/// Recipes and their pictures.
extension Kitchen {
    /// The languages that the chats use.
    var languages: [Language] {
        let chosen = state.household.chats.values.compactMap { $0.language }
        return Language.allCases.filter { $0 == settings.language || chosen.contains($0) }
    }

    /// Lists or finds recipes; nil if they have to be read from the cloud first, which then answers.
    func listRecipes(_ query: String, for chat: ChatID, waits: Bool) async throws -> String? {
        let language = language(of: chat)
        let isEmpty = try await book.count(language) == 0
        if isEmpty, waits {
            searches.append((chat.rawValue, query))
            if searches.count > 32 { searches.removeFirst() }
            requestSynchronization()
            return nil
        }
        if isEmpty { return text(isCloudReachable ? .recipesNone : .cloudUnreachable, for: chat) }
        let found = try await book.search(query, language)
        guard !found.isEmpty else { return text(.recipesNone, for: chat) }
        let ids = found.map { $0.id }
        try await change { state, _ in state.household.chats[chat.rawValue, default: ChatState()].listed = ids }
        let people = state.preferences.current.people
        return found.enumerated().flatMap { index, recipe in
            ["\(index + 1). \(recipe.title) — \(facts(recipe, language))"]
                + AllergenMarks(recipe, for: people).lines(in: language)
        }
        .joined(separator: "\n")
    }

    private func facts(_ recipe: Recipe, _ language: Language) -> String {
        let minutes = recipe.seconds.clampedAdding(59) / 60
        return Texts.text(
            .recipeFacts, ["minutes": "\(minutes)", "servings": "\(recipe.servings)"], in: language)
    }

    /// The recipe that a person means: a number of the last list, an id, or words of a title.
    func recipe(_ reference: String, for chat: ChatID) async throws -> Recipe? {
        let language = language(of: chat)
        let listed = state.household.chats[chat.rawValue]?.listed ?? []
        if let number = Int(reference), listed.indices.contains(number.clampedSubtracting(1)) {
            return try await book.recipe(listed[number.clampedSubtracting(1)], language)
        }
        if let exact = try await book.recipe(reference, language) { return exact }
        return try await book.search(reference, language, limit: 1).first { _ in RecipeSearch.query(reference) != nil }
    }

    /// The card of a recipe, with the persons who cannot eat it.
    func card(_ recipe: Recipe, for chat: ChatID) -> String {
        let language = language(of: chat)
        var lines = [recipe.title]
        if !recipe.summary.isEmpty { lines.append(recipe.summary) }
        lines.append(facts(recipe, language))
        lines += AllergenMarks(recipe, for: state.preferences.current.people).lines(in: language)
        lines += ["", Texts.text(.recipeIngredients, in: language)]
        var list = GroceryList()
        if (try? list.add(recipe, servings: recipe.servings)) != nil { lines += list.items.map { "• \($0.text)" } }
        lines += ["", Texts.text(.recipeSteps, in: language)]
        lines += recipe.steps.enumerated().map { "\($0 + 1). \($1.text)" }
        return lines.joined(separator: "\n")
    }

    // MARK: Pictures

    /// The picture of a recipe, from the cache or from the cloud; nil if there is none.
    func picture(of id: String) async throws -> (bytes: [UInt8], file: String)? {
        guard let recipe = try await book.recipe(id, settings.language), let path = recipe.imagePath else { return nil }
        let key = ImageCacheIndex.key(recipe)
        let isCached = try await change { state, _ in state.household.pictures.use(key) }
        if isCached {
            if let bytes = try await book.picture(key) { return (bytes, key) }
            try await change { state, _ in _ = state.household.pictures.remove(key) }
        }
        guard case .answered(200, let bytes) = await client.send(try APIRequest.image(at: path)),
            bytes.starts(with: [0xff, 0xd8])
        else { return nil }
        let evicted = try await change { state, _ in
            state.household.pictures.insert(key, bytes: bytes.count)
        }
        // One that exceeds the cache is not stored.
        if !evicted.contains(key) { try await book.store(bytes, key, removing: evicted) }
        return (bytes, key)
    }

    /// Brings index and files of the picture cache together, after a crash between the two.
    func reconcilePictures() async throws {
        let keys = try await book.pictureKeys()
        let unknown = try await change { state, _ in state.household.pictures.reconcile(with: keys) }
        try await book.removePictures(unknown)
    }
}
