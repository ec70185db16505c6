import Appliance
import BotKit
import EpicuraSimulator
import LiveTesting
import PikaCore
import Testing

@testable import BotTesting
@testable import EpicuraBot

@Suite(.bounded)
struct LoginLabTests {
    @Test func logsInByPhone() async throws {
        let home = try await Household(seed: 301, isReady: false)
        defer { home.remove() }
        #expect(try await home.answers(to: "/login", in: home.direct).first?.hasPrefix("Send your phone") == true)
        let sent = try await home.answers(to: "+91 98765-43210", in: home.direct)
        #expect(sent == ["A code was sent. Write it here within 5 minutes."])
        let wrong = try await home.answers(to: "000000", in: home.direct)
        #expect(wrong == ["The code is wrong or has expired."])
        let done = try await home.answers(to: try home.cloud.code(), in: home.direct)
        #expect(done == ["You are logged in."])
        #expect(home.cloud.count("GET /v1/appliances") > 0)
    }

    @Test func emailIsTheFallback() async throws {
        let home = try await Household(seed: 302, isReady: false)
        defer { home.remove() }
        try await home.say("/login", in: home.direct)
        #expect(try await home.answers(to: "nobody", in: home.direct).first?.hasPrefix("Send your phone") == true)
        let sent = try await home.answers(to: "asha@example.org", in: home.direct)
        #expect(sent == ["A code was sent. Write it here within 5 minutes."])
        let done = try await home.answers(to: try home.cloud.code(), in: home.direct)
        #expect(done == ["You are logged in."])
    }

    @Test func groupsMayNotLogIn() async throws {
        let home = try await Household(seed: 303, isReady: false)
        defer { home.remove() }
        #expect(try await home.answers(to: "/login") == ["Please write this to me in a private chat."])
        #expect(try await home.answers(to: "+919876543210").isEmpty)
    }

    @Test func stormOfRefusalsStartsOnce() async throws {
        let home = try await Household(seed: 304)
        defer { home.remove() }
        let before = home.cloud.count("POST /v1/auth/refresh")
        try home.cloud.set { $0.unauthorized = 3 }
        let answers = try await home.answers(to: "/cook chai")
        #expect(answers.contains("Masala chai is cooking."))
        // Three refusals: once with the old token, and twice with new ones.
        #expect(home.cloud.count("POST /v1/auth/refresh") == before + 2)
        #expect(home.starts == 1)
    }

    @Test func rotatedTokensOutliveACrash() async throws {
        let home = try await Household(seed: 305)
        defer { home.remove() }
        try home.cloud.set { $0.unauthorized = 1 }
        try await home.say("/status")
        home.bot.crash()
        try await home.bot.restart()
        try await home.lab.advance(by: .seconds(5))
        let answers = try await home.answers(to: "/rename 1 Big pot")
        #expect(answers == ["The appliance is now called Big pot."])
    }

    @Test func logoutRemovesTheTokens() async throws {
        let home = try await Household(seed: 306)
        defer { home.remove() }
        let ended = try await home.answers(to: "/logout", in: home.direct)
        #expect(ended == ["Your session has ended. Please log in again."])
        let answers = try await home.answers(to: "/rename 1 Pot")
        #expect(answers == ["Please log in first: /login in a private chat."])
    }
}
