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
struct CookingLabTests {
    @Test func cooksOneSessionToItsEnd() async throws {
        let home = try await Household(seed: 101)
        defer { home.remove() }
        let begun = try await home.answers(to: "/cook chai 2")
        #expect(begun.first == "Starting Masala chai…")
        #expect(begun.contains("Masala chai is cooking."))
        #expect(home.starts == 1)
        try await home.deliver()
        try await home.cookToTheEnd()
        let heard = home.heard()
        #expect(heard.contains("Step 1: Boil water and ginger."))
        #expect(heard.contains("Step 3: Add milk and simmer."))
        #expect(heard.contains { $0.hasPrefix("Timer: Tea is ready") })
        #expect(heard.contains { $0.hasPrefix("Please look:") && $0.contains(home.alice.publicKey.npub) })
        #expect(heard.contains { $0.hasPrefix("Masala chai is ready. Rate it with a reaction.") })
        #expect(home.files.contains("step-1.jpg"))
        #expect(home.files.contains("step-3.jpg"))
        #expect(home.starts == 1)
    }

    @Test func progressIsOneEditedMessage() async throws {
        let home = try await Household(seed: 102, groupProtocol: .v2)
        defer { home.remove() }
        try await home.say("/cook chai")
        try await home.deliver()
        for _ in 0..<4 {
            try await home.lab.advance(by: .seconds(20))
            try await home.deliver(afterCooking: 60)
        }
        let progress = home.heard().filter { $0.contains("%") }
        #expect(progress.count == 1)
        let edits = home.messages.filter { $0.kind == .edit }
        #expect(edits.count >= 2)
        let target = home.messages.first { $0.content == progress.first }?.id
        #expect(edits.allSatisfy { $0.target == target })
    }

    @Test func firstGenerationRepeatsProgressByStep() async throws {
        let home = try await Household(seed: 103)
        defer { home.remove() }
        try await home.say("/cook chai")
        try await home.deliver()
        try await home.cookToTheEnd(by: 20)
        #expect(home.heard().filter { $0.contains("%") }.count == 3)
        #expect(!home.messages.contains { $0.kind == .edit })
    }

    @Test func offlineStartIsRefusedAndNeverQueued() async throws {
        let home = try await Household(seed: 104)
        defer { home.remove() }
        try home.cloud.set {
            $0.applianceOffline = true
            $0.localOffline = true
        }
        let answers = try await home.answers(to: "/cook chai")
        #expect(answers.contains { $0.hasPrefix("The appliance is offline. Cooking was not started") })
        try home.cloud.set {
            $0.applianceOffline = false
            $0.localOffline = false
        }
        try await home.lab.advance(by: .seconds(60))
        #expect(home.starts == 0)
    }

    @Test func directWiFiStartsWithoutTheCloud() async throws {
        let home = try await Household(seed: 105)
        defer { home.remove() }
        try home.cloud.set { $0.applianceOffline = true }
        let answers = try await home.answers(to: "/cook chai")
        #expect(answers.contains("Masala chai is cooking."))
        #expect(home.cloud.count("POST /lan/v1/commands") == 1)
        #expect(home.starts == 1)
    }

    @Test func lostStartExpiresWithinSeconds() async throws {
        let home = try await Household(seed: 106, settings: ["localNetwork": false])
        defer { home.remove() }
        let path = "POST /v1/appliances/appliance-a1/commands"
        home.cloud.commandFault = .lost
        try await home.say("/cook chai")
        try await home.lab.advance(by: .seconds(15))
        let attempts = home.cloud.count(path)
        #expect((2...6).contains(attempts))
        #expect(home.heard().contains { $0.hasPrefix("The appliance did not answer in time.") })
        home.cloud.commandFault = .none
        try await home.lab.advance(by: .seconds(60))
        #expect(home.cloud.count(path) == attempts)
        #expect(home.starts == 0)
    }

    @Test func lostAnswersStartOnce() async throws {
        let home = try await Household(seed: 109, settings: ["localNetwork": false])
        defer { home.remove() }
        home.cloud.commandFault = .lostAnswer
        try await home.say("/cook chai")
        try await home.lab.advance(by: .seconds(20))
        #expect(home.starts == 1)
        #expect(home.heard().contains("Masala chai is cooking."))
    }

    @Test func missedEndIsRecordedAsFailure() async throws {
        let home = try await Household(seed: 110)
        defer { home.remove() }
        try await home.say("/cook chai")
        try await home.deliver()
        // While the stream is silent, another device ends the session and starts one of its own.
        let session = try #require(home.cloud.cloud.appliances.first?.status?.sessionID)
        let expiry = UnixTime(milliseconds: home.lab.clock.nowMilliseconds) + 10
        let cancel = CommandRequest(id: "other1", kind: .cancel, sessionID: session, expiresAt: expiry)
        let start = CommandRequest(id: "other2", kind: .start, recipeID: "chai", servings: 2, expiresAt: expiry)
        for command in [cancel, start] {
            _ = try home.send(try APIRequest.command(command, to: "appliance-a1", by: .cloud))
        }
        _ = try home.cloud.cook(seconds: 0)
        let hello = LiveEvent(sequence: 100_000, at: expiry, body: .hello(isResumed: false))
        let text = String(decoding: try APICoding.encode(hello), as: UTF8.self)
        let connection = try #require(home.connections.connections.last)
        try await home.lab.run { await connection.deliver(.text(text)) }
        try await home.lab.advance(by: .seconds(5))
        #expect(home.heard().contains { $0.hasPrefix("Masala chai failed.") })
        #expect(home.cloud.cloud.history.map { $0.outcome } == [.failed])
        #expect(try await home.answers(to: "/cook chai").contains { $0.hasPrefix("The appliance is already cooking.") })
    }

    @Test func secondStartIsBusy() async throws {
        let home = try await Household(seed: 107)
        defer { home.remove() }
        try await home.say("/cook chai")
        let answers = try await home.answers(to: "/cook dal-tadka", by: home.bob)
        #expect(answers == ["The appliance is already cooking."])
        #expect(home.starts == 1)
    }

    @Test func pauseAndCancelReachTheAppliance() async throws {
        let home = try await Household(seed: 108)
        defer { home.remove() }
        #expect(try await home.answers(to: "/pause") == ["Nothing is cooking."])
        try await home.say("/cook chai")
        try await home.deliver()
        try await home.say("/pause")
        try await home.deliver()
        #expect(home.heard().contains("Masala chai is paused."))
        try await home.say("/resume", by: home.bob)
        try await home.say("/cancel")
        try await home.deliver()
        #expect(home.heard().contains { $0.hasPrefix("Masala chai was stopped.") })
    }
}
