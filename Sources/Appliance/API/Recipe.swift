import Nostr

/// One line of a recipe's ingredients.
package struct Ingredient: APIValue {
    /// In the recipe's language.
    package var name: String
    /// For the recipe's number of servings, in `unit`.
    package var quantity: Double
    /// Such as `g` or `ml`; empty for pieces.
    package var unit: String
    /// Allergens of this ingredient.
    package var allergens: [Allergen]

    package init(name: String, quantity: Double, unit: String, allergens: [Allergen] = []) {
        self.name = name
        self.quantity = quantity
        self.unit = unit
        self.allergens = allergens
    }

    package func validate() throws(ApplianceError) {
        try Bounds.text(self.name, 1...120, "ingredient.name")
        try Bounds.text(self.unit, 0...20, "ingredient.unit")
        try Bounds.number(self.quantity, 0...100_000, "ingredient.quantity")
        try Bounds.list(self.allergens, 40, "ingredient.allergens")
    }
}

/// One step of a recipe, as the appliance runs it.
package struct RecipeStep: APIValue {
    /// Instruction in the recipe's language.
    package var text: String
    /// Duration at which the appliance ends the step.
    package var seconds: Int
    /// Whether a person has to act, such as to add an ingredient; raises an alert.
    package var needsAttention: Bool
    /// Label of a timer that ends with the step.
    package var timer: String?

    package init(text: String, seconds: Int, needsAttention: Bool = false, timer: String? = nil) {
        self.text = text
        self.seconds = seconds
        self.needsAttention = needsAttention
        self.timer = timer
    }

    package func validate() throws(ApplianceError) {
        try Bounds.text(self.text, 1...2_000, "step.text")
        try Bounds.number(self.seconds, 1...86_400, "step.seconds")
        if let timer { try Bounds.text(timer, 1...80, "step.timer") }
    }
}

/// A recipe in one language.
package struct Recipe: APIValue {
    package var id: String
    /// Increases with every change of the recipe.
    package var revision: Int
    package var language: Language
    package var title: String
    /// One or two sentences.
    package var summary: String
    package var servings: Int
    package var ingredients: [Ingredient]
    package var steps: [RecipeStep]
    /// Such as `vegetarian`.
    package var tags: [String]
    /// Path of the picture below the API's address.
    package var imagePath: String?

    package init(
        id: String, revision: Int, language: Language, title: String, summary: String, servings: Int,
        ingredients: [Ingredient], steps: [RecipeStep], tags: [String] = [], imagePath: String? = nil
    ) {
        self.id = id
        self.revision = revision
        self.language = language
        self.title = title
        self.summary = summary
        self.servings = servings
        self.ingredients = ingredients
        self.steps = steps
        self.tags = tags
        self.imagePath = imagePath
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.id, "recipe.id")
        try Bounds.number(self.revision, 0...Bounds.largestRevision, "recipe.revision")
        try Bounds.text(self.title, 1...200, "recipe.title")
        try Bounds.text(self.summary, 0...1_000, "recipe.summary")
        try Bounds.number(self.servings, 1...100, "recipe.servings")
        try Bounds.list(self.ingredients, 100, "recipe.ingredients")
        guard !self.steps.isEmpty else { throw ApplianceError(.malformed, "recipe.steps: expected at least one step") }
        try Bounds.list(self.steps, 100, "recipe.steps")
        guard self.tags.count <= 40 else { throw Bounds.tooMany("recipe.tags", 40) }
        for tag in self.tags { try Bounds.text(tag, 1...40, "recipe.tags") }
        if let imagePath { try Bounds.path(imagePath, "recipe.imagePath") }
    }

    /// All allergens of the ingredients, sorted.
    package var allergens: [Allergen] { Set(self.ingredients.flatMap(\.allergens)).sorted() }

    /// The sum of the steps' durations; exact for a valid recipe.
    package var seconds: Int { self.steps.reduce(0) { $0.clampedAdding($1.seconds) } }
}

/// A page of recipes, in the order of their ids.
package struct RecipePage: APIValue {
    package var items: [Recipe]
    /// Passed as `cursor` for the next page; nil at the end.
    package var nextCursor: String?

    package init(items: [Recipe], nextCursor: String? = nil) {
        self.items = items
        self.nextCursor = nextCursor
    }

    package func validate() throws(ApplianceError) {
        try Bounds.list(self.items, 100, "recipes")
        if let nextCursor { try Bounds.identifier(nextCursor, "recipes.nextCursor") }
    }
}
