import Appliance
import BotDispatch
import BotKit
import EpicuraSimulator
import LiveTesting
import PikaCore
import Testing

@testable import BotTesting
@testable import EpicuraBot

@Suite(.bounded)
struct StopLabTests {
    private static let cloudStop = "POST /v1/appliances/appliance-a1/emergency-stop"
    private static let localStop = "POST /lan/v1/emergency-stop"

    @Test func anyMemberStopsByBothWays() async throws {
        let home = try await Household(seed: 201)
        defer { home.remove() }
        try await home.say("/cook chai")
        try await home.deliver()
        let answers = try await home.answers(to: "/stop", by: home.bob)
        try await home.deliver()
        #expect(answers.first?.hasPrefix("EMERGENCY STOP sent") == true)
        #expect(answers.contains { $0.hasPrefix("The appliance has stopped.") })
        #expect(home.cloud.count(Self.cloudStop) == 1)
        #expect(home.cloud.count(Self.localStop) == 1)
        #expect(home.stops == 1)
        #expect(home.heard().contains { $0.hasPrefix("Masala chai was stopped.") })
    }

    @Test func repeatsUntilTheAcknowledgement() async throws {
        let home = try await Household(seed: 202)
        defer { home.remove() }
        try home.cloud.set { $0.lostStopAcknowledgements = 20 }
        try await home.say("/stop")
        try await home.lab.advance(by: .seconds(8))
        #expect(home.heard().contains { $0.hasPrefix("NO ANSWER from the appliance.") })
        #expect(home.cloud.count(Self.cloudStop) >= 5)
        try await home.lab.advance(by: .seconds(10))
        #expect(home.heard().contains { $0.hasPrefix("The appliance has stopped.") })
        let attempts = home.cloud.count(Self.cloudStop)
        try await home.lab.advance(by: .seconds(20))
        #expect(home.cloud.count(Self.cloudStop) == attempts)
        #expect(home.stops == 1)
    }

    @Test func limitsDoNotApplyToStop() async throws {
        var policy = BotPolicy()
        policy.limits.perSender = Rate(1, per: .hour)
        let home = try await Household(seed: 203, policy: policy, isReady: false)
        defer { home.remove() }
        try await home.say("/status")
        let ignored = try await home.answers(to: "/status")
        let stop = try await home.answers(to: "/stop")
        #expect(ignored.isEmpty)
        #expect(stop == ["No appliance is paired: /pair"])
    }

    @Test func stopGoesOnAfterACrash() async throws {
        let home = try await Household(seed: 204)
        defer { home.remove() }
        home.cloud.isDown = true
        try await home.say("/stop")
        home.bot.crash()
        home.cloud.isDown = false
        try await home.bot.restart()
        try await home.lab.advance(by: .seconds(5))
        #expect(home.stops == 1)
        #expect(home.heard().contains { $0.hasPrefix("The appliance has stopped.") })
    }
}
