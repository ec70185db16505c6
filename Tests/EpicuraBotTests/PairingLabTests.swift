import Appliance
import BotKit
import EpicuraSimulator
import LiveTesting
import PikaCore
import Testing

@testable import BotTesting
@testable import EpicuraBot

@Suite(.bounded)
struct PairingLabTests {
    @Test func pairsInAPrivateChat() async throws {
        let home = try await Household(seed: 401)
        defer { home.remove() }
        let heard = home.heard(in: home.direct)
        #expect(heard.contains("Searching for appliances…"))
        #expect(heard.contains("Choose an appliance by its number:\n1. Kitchen (-52 dBm)"))
        #expect(heard.contains("Connecting to Kitchen…"))
        #expect(heard.contains("The appliance is joining the Wi-Fi…"))
        #expect(heard.contains("Kitchen is ready."))
        #expect(home.radio.credentials == [WiFiCredentials(network: "Home", passphrase: Household.passphrase)])
        #expect(try await home.answers(to: "/status") == ["1. Kitchen: ready"])
    }

    @Test func groupsMayNotPair() async throws {
        let home = try await Household(seed: 402)
        defer { home.remove() }
        let lines = home.radio.lines.count
        #expect(try await home.answers(to: "/pair") == ["Please write this to me in a private chat."])
        #expect(home.radio.lines.count == lines)
    }

    @Test func wrongPassphraseIsAskedAgain() async throws {
        let home = try await Household(seed: 403, isReady: false)
        defer { home.remove() }
        try await home.logIn()
        try await home.say("/pair", in: home.direct)
        try await home.say("1", in: home.direct)
        let answers = try await home.answers(to: "Home\nwrong password", in: home.direct)
        #expect(answers.prefix(2) == ["The appliance is joining the Wi-Fi…", "The Wi-Fi password is wrong."])
        #expect(answers.last?.hasPrefix("Send the name of your Wi-Fi") == true)
        let joined = try await home.answers(to: "Home\n\(Household.passphrase)", in: home.direct)
        #expect(joined.last == "Kitchen is ready.")
    }

    @Test func cancelEndsThePairing() async throws {
        let home = try await Household(seed: 404, isReady: false)
        defer { home.remove() }
        try await home.logIn()
        try await home.say("/pair", in: home.direct)
        #expect(try await home.answers(to: "/cancel", in: home.direct) == ["Pairing was cancelled."])
        #expect(try await home.answers(to: "1", in: home.direct).isEmpty)
    }

    @Test func pairingNeedsALogin() async throws {
        let home = try await Household(seed: 405, isReady: false)
        defer { home.remove() }
        let answers = try await home.answers(to: "/pair", in: home.direct)
        #expect(answers == ["Please log in first: /login in a private chat."])
    }
}
