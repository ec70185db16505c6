import Appliance
import BotKit
import EpicuraSimulator
import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import BotTesting
@testable import EpicuraBot

@Suite(.bounded)
struct HouseholdLabTests {
    // MARK: Camera

    @Test func cameraSendsAnEncryptedPicture() async throws {
        let home = try await Household(seed: 601)
        defer { home.remove() }
        try await home.say("/camera", by: home.bob)
        let message = try #require(home.messages.last { !$0.media.isEmpty })
        #expect(message.media.map { $0.filename } == ["camera.jpg"])
        let bytes = try await home.alice.download(of: message.id, in: home.group)
        #expect(bytes == SamplePicture.jpeg(number: 1))
    }

    @Test func unreachableCameraIsReported() async throws {
        let home = try await Household(seed: 602)
        defer { home.remove() }
        try home.cloud.set { $0.localOffline = true }
        #expect(try await home.answers(to: "/camera") == ["The camera cannot be reached."])
    }

    // MARK: History

    @Test func historyIsUploadedWhenOnline() async throws {
        let home = try await Household(seed: 611)
        defer { home.remove() }
        try await home.say("/cook chai")
        try await home.deliver()
        home.cloud.isDown = true
        try await home.cookToTheEnd()
        #expect(home.cloud.cloud.history.isEmpty)
        let listed = try #require(try await home.answers(to: "/history").first)
        #expect(listed.hasPrefix("Masala chai, "))
        home.cloud.isDown = false
        try await home.lab.advance(by: .seconds(310))
        #expect(home.cloud.cloud.history.map { $0.title } == ["Masala chai"])
    }

    @Test func reactionRatesTheSession() async throws {
        let home = try await Household(seed: 612)
        defer { home.remove() }
        try await home.say("/cook chai")
        try await home.deliver()
        try await home.cookToTheEnd()
        let end = try #require(home.messages.last { $0.content.hasPrefix("Masala chai is ready.") })
        _ = try await home.bob.perform(.sendMessage(chatID: home.group, .reaction("❤️", to: end.id)))
        try await home.lab.advance(by: .seconds(5))
        #expect(home.heard().last == "Rating: 5 of 5")
        #expect(home.cloud.cloud.history.first?.rating?.stars == 5)
        #expect(try await home.answers(to: "/rate 3") == ["Rating: 3 of 5"])
        #expect(home.cloud.cloud.history.first?.rating?.stars == 3)
    }

    // MARK: Preferences

    @Test func preferencesGoBothWays() async throws {
        let home = try await Household(seed: 621)
        defer { home.remove() }
        #expect(try await home.answers(to: "/prefs spice mild") == ["spice: mild"])
        #expect(home.cloud.cloud.preferences.values["spice"]?.text == "mild")
        // Another device adds a person.
        try await home.replaceInTheCloud { preferences in
            preferences.people.append(
                PersonAllergens(person: "Ravi", allergens: [.soy], updatedAt: UnixTime(1_800_000_500)))
        }
        try await home.deliver()
        #expect(try await home.answers(to: "/allergens") == ["Allergens of Ravi: soy"])
    }

    @Test func conflictingAllergensAreMerged() async throws {
        let home = try await Household(seed: 622)
        defer { home.remove() }
        home.cloud.isDown = true
        let offline = try await home.answers(to: "/allergens Asha milk")
        #expect(offline == ["Allergens of Asha: milk"])
        try await home.lab.advance(by: .seconds(2))
        let waiting = try #require(try await home.answers(to: "/prefs oil little").first)
        #expect(waiting == "oil: little\nSaved here; the cloud gets it when it can be reached.")
        try await home.replaceInTheCloud { preferences in
            preferences.people.append(
                PersonAllergens(person: "Asha", allergens: [.egg], updatedAt: UnixTime(1_800_000_500)))
        }
        home.cloud.isDown = false
        try await home.lab.advance(by: .seconds(310))
        #expect(home.cloud.cloud.preferences.people.first?.allergens == [.egg, .milk])
        #expect(home.cloud.cloud.preferences.values["oil"]?.text == "little")
        #expect(try await home.answers(to: "/allergens") == ["Allergens of Asha: egg, milk"])
    }

    // MARK: Appliances

    @Test func severalAppliancesNeedAName() async throws {
        let home = try await Household(seed: 631)
        defer { home.remove() }
        try await home.claimInTheCloud("B2", name: "Balcony")
        try await home.say("/status")
        #expect(try await home.answers(to: "/status") == ["1. Kitchen: ready\n2. Balcony: ready"])
        #expect(try await home.answers(to: "/cook chai") == ["Which appliance? Kitchen, Balcony"])
        let renamed = try await home.answers(to: "/rename 2 Terrace")
        #expect(renamed == ["The appliance is now called Terrace."])
        let answers = try await home.answers(to: "/cook chai 2 @Terrace")
        #expect(answers.contains("Masala chai is cooking."))
        #expect(home.cloud.cloud.appliances.map { $0.starts } == [0, 1])
    }

    // MARK: Lists

    @Test func groceriesAreAChecklist() async throws {
        let home = try await Household(seed: 641)
        defer { home.remove() }
        #expect(try await home.answers(to: "/groceries") == ["The shopping list is empty."])
        let added = try await home.answers(to: "/groceries add chai 4")
        #expect(added == ["Added to the shopping list: Masala chai"])
        let list = try #require(try await home.answers(to: "/groceries").first)
        #expect(list.contains("400 ml Milk"))
        let checked = try #require(try await home.answers(to: "/groceries check 1", by: home.bob).first)
        #expect(checked.contains("☑ 1. "))
        let cleared = try #require(try await home.answers(to: "/groceries clear").first)
        #expect(!cleared.contains("☑"))
    }

    @Test func plannedMealIsRemindedInItsZone() async throws {
        let home = try await Household(seed: 642, settings: ["timeZone": "Asia/Kolkata"])
        defer { home.remove() }
        // 1_800_000_000 is 2027-01-15 08:00 UTC, 13:30 in Kolkata.
        let planned = try await home.answers(to: "/plan 2027-01-15 15:30 dal-tadka 4")
        #expect(planned == ["Dal tadka is planned for 2027-01-15 15:30."])
        #expect(try await home.answers(to: "/plan") == ["1. 2027-01-15 15:30 Dal tadka (4)"])
        #expect(try await home.answers(to: "/plan 2020-01-01 10:00 chai").first?.hasPrefix("Write a future") == true)
        let before = home.heard().count
        try await home.lab.advance(by: .seconds(50 * 60))
        #expect(home.heard().count == before)
        home.bot.crash()
        try await home.bot.restart()
        try await home.lab.advance(by: .seconds(15 * 60))
        let reminders = home.heard().filter { $0.hasPrefix("Reminder: Dal tadka at 2027-01-15 15:30") }
        #expect(reminders.count == 1)
    }

    // MARK: Languages

    @Test func eachChatHasItsLanguage() async throws {
        let home = try await Household(seed: 651)
        defer { home.remove() }
        #expect(try await home.answers(to: "/language xx").first?.hasPrefix("Unknown language.") == true)
        #expect(try await home.answers(to: "/language hi") == ["भाषा: हिन्दी"])
        let hindi = try await home.answers(to: "/groceries")
        #expect(hindi == [Texts.text(.groceriesEmpty, in: .hindi)])
        #expect(try await home.answers(to: "/groceries", in: home.direct) == ["The shopping list is empty."])
    }
}
