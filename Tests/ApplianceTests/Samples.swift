import Errors
import Nostr

@testable import Appliance

/// Values that tests start from.
enum Samples {
    static let recipe = Recipe(
        id: "dal", revision: 3, language: .english, title: "Dal", summary: "Lentils.", servings: 2,
        ingredients: [
            Ingredient(name: "Lentils", quantity: 250, unit: "g"),
            Ingredient(name: "Ghee", quantity: 30, unit: "g", allergens: [.milk]),
            Ingredient(name: "Mustard seeds", quantity: 5, unit: "g", allergens: [.mustard, .milk]),
        ],
        steps: [
            RecipeStep(text: "Boil.", seconds: 60), RecipeStep(text: "Stir.", seconds: 30, needsAttention: true),
            RecipeStep(text: "Simmer.", seconds: 90, timer: "dal"),
        ],
        tags: ["vegetarian"], imagePath: "/v1/recipes/dal/image")

    static func status(
        revision: Int, phase: CookingPhase = .cooking, step: Int = 0, remaining: Int = 180, session: String = "s1",
        command: String = "c1"
    ) -> CookingStatus {
        CookingStatus(
            sessionID: session, commandID: command, applianceID: "a1", recipeID: "dal", servings: 2, revision: revision,
            phase: phase,
            step: step, stepCount: 3, stepRemainingSeconds: 10, remainingSeconds: remaining, totalSeconds: 180,
            startedAt: 1_000, updatedAt: 1_100)
    }

    static func record(_ id: String, rating: Rating? = nil) -> HistoryRecord {
        HistoryRecord(
            id: id, applianceID: "a1", recipeID: "dal", title: "Dal", servings: 2, outcome: .finished, startedAt: 1,
            endedAt: 2, rating: rating)
    }

    static func jpeg(_ content: [UInt8]) -> [UInt8] { [0xFF, 0xD8] + content + [0xFF, 0xD9] }
}

/// Runs a throwing call and returns the code of its error; nil without an error.
func code(of body: () throws -> Void) -> ApplianceError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? ApplianceError)?.code
    }
}
