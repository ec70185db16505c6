import Appliance
import BotKit
import EpicuraSimulator
import LiveTesting
import PikaCore
import Testing

@testable import BotTesting
@testable import EpicuraBot

@Suite(.bounded)
struct RecipeLabTests {
    @Test func findsRecipesAndShowsACard() async throws {
        let home = try await Household(seed: 501)
        defer { home.remove() }
        let all = try #require(try await home.answers(to: "/recipes").first)
        #expect(all.contains("1. Dal tadka — 30 min, serves 4"))
        let found = try #require(try await home.answers(to: "/recipes peanut").first)
        #expect(found == "1. Peanut poha — 11 min, serves 2")
        let card = try #require(try await home.answers(to: "/recipe 1").first)
        #expect(card.hasPrefix("Peanut poha\nFlattened rice with peanuts."))
        #expect(card.contains("• 50 g Peanuts"))
        #expect(card.contains("1. Roast the peanuts."))
        #expect(home.files == ["peanut-poha-1.jpg"])
        #expect(try await home.answers(to: "/recipes \"OR\"") == ["No recipe was found."])
    }

    @Test func marksAllergensOfEachPerson() async throws {
        let home = try await Household(seed: 502)
        defer { home.remove() }
        try await home.say("/allergens Asha peanut, milk")
        try await home.say("/allergens \"Uncle Ravi\" mustard")
        let found = try #require(try await home.answers(to: "/recipes poha").first)
        #expect(found.contains("⚠️ Asha: peanut"))
        #expect(found.contains("⚠️ Uncle Ravi: mustard"))
        let card = try #require(try await home.answers(to: "/recipe chai").first)
        #expect(card.contains("⚠️ Asha: milk"))
        #expect(!card.contains("Ravi"))
    }

    @Test func searchesHindiAndTamil() async throws {
        let home = try await Household(seed: 503)
        defer { home.remove() }
        try await home.say("/language hi")
        let hindi = try #require(try await home.answers(to: "/recipes चाय").first)
        #expect(hindi.hasPrefix("1. मसाला चाय"))
        try await home.say("/language ta")
        let all = try #require(try await home.answers(to: "/recipes").first)
        let tamil = SampleRecipes.all[.tamil] ?? []
        #expect(tamil.allSatisfy { all.contains($0.title) })
        let word = tamil.first?.title.split(separator: " ").last.map(String.init) ?? ""
        let found = try #require(try await home.answers(to: "/recipes \(word)").first)
        #expect(found.contains(tamil.first?.title ?? "?"))
    }

    @Test func recipesAndPicturesAreCached() async throws {
        let home = try await Household(seed: 504)
        defer { home.remove() }
        try await home.say("/recipe chai")
        #expect(home.cloud.count("GET /v1/recipes/chai/image") == 1)
        home.cloud.isDown = true
        let card = try #require(try await home.answers(to: "/recipe chai").first)
        #expect(card.hasPrefix("Masala chai"))
        #expect(home.files == ["chai-1.jpg", "chai-1.jpg"])
        let found = try #require(try await home.answers(to: "/recipes dal").first)
        #expect(found.hasPrefix("1. Dal tadka"))
    }

    @Test func fullPictureCacheEvicts() async throws {
        let size = SamplePicture.jpeg(number: 1).count
        let home = try await Household(seed: 505, settings: ["imageBytes": .int(size * 3 / 2)])
        defer { home.remove() }
        for recipe in ["chai", "dal-tadka", "chai"] { try await home.say("/recipe \(recipe)") }
        #expect(home.cloud.count("GET /v1/recipes/chai/image") == 2)
        #expect(home.files == ["chai-1.jpg", "dal-tadka-1.jpg", "chai-1.jpg"])
    }

    @Test func recipesNeedALogin() async throws {
        let home = try await Household(seed: 506, isReady: false)
        defer { home.remove() }
        #expect(try await home.answers(to: "/recipes") == ["Please log in first: /login in a private chat."])
    }
}
