import BotTesting
import Nostr
import Testing

@testable import PikaCore

@Suite struct SessionConfigurationTests {
    private func session(_ lab: GroupLab) async throws -> (LabSession, KeyPair) {
        var generator = SeededGenerator(seed: 77)
        let key = KeyPair.generate(using: &generator)
        return (try await lab.session("ann"), key)
    }

    @Test func configurationAppliesToLaterAccounts() async throws {
        let lab = try GroupLab(seed: 440, relays: 2)
        let (session, key) = try await self.session(lab)
        var configuration = CoreConfiguration(relays: [lab.relays[1]], invites: .anyone, selfUpdate: .never)
        #expect(try await session.attempt(.reloadConfiguration(configuration)) == .done(chatID: nil))
        _ = try await session.attempt(.login(.key(key)))
        #expect(try await session.state().relays.map(\.url) == [lab.relays[1]])
        configuration.relays = lab.relays
        #expect(try await session.attempt(.reloadConfiguration(configuration)) == .done(chatID: nil))
        #expect(try await session.state().relays.map(\.url) == lab.relays)
        #expect(try await session.state().relays.allSatisfy { $0.connection == .connected && $0.isCaughtUp })
        // A refused configuration changes nothing, nor does it affect the next one.
        var refused = configuration
        refused.relays = []
        refused.client = "another"
        #expect(try await session.attempt(.reloadConfiguration(refused))?.failure == .needsRestart)
        _ = try await session.attempt(.logout)
        _ = try await session.attempt(.login(.key(key)))
        #expect(try await session.state().relays.map(\.url) == lab.relays)
        // After a logout everything may change.
        _ = try await session.attempt(.logout)
        #expect(try await session.attempt(.reloadConfiguration(refused)) == .done(chatID: nil))
        _ = try await session.attempt(.login(.key(key)))
        #expect(try await session.state().relays.isEmpty)
        checkPromises(session)
    }

    @Test func invitationsReachAccountAtNewRelay() async throws {
        let lab = try GroupLab(seed: 441, relays: 2)
        let bob = try await lab.member("bob", relays: [lab.relays[0]])
        let (session, key) = try await self.session(lab)
        let configuration = CoreConfiguration(relays: [lab.relays[0]], invites: .anyone, selfUpdate: .never)
        _ = try await session.attempt(.reloadConfiguration(configuration))
        _ = try await session.attempt(.login(.key(key)))
        var moved = configuration
        moved.relays = [lab.relays[1]]
        try await lab.advance(by: .seconds(2))
        _ = try await session.attempt(.reloadConfiguration(moved))
        lab.network.takeDown(lab.relays[1])
        lab.network.bringUp(lab.relays[1])
        try await lab.settle()
        // Bob reads only the first relay, while the lists now name the second.
        try await bob.perform(.createGroupChat(name: "found", peers: [key.publicKey]))
        #expect(try await session.state().chatList.map(\.name) == ["found"])
        checkPromises(session)
    }

    @Test func foregroundedReconnectsReturnedRelays() async throws {
        let lab = try GroupLab(seed: 442)
        let bob = try await lab.member("bob")
        let (session, key) = try await self.session(lab)
        _ = try await session.attempt(.login(.key(key)))
        lab.network.takeDown(lab.relay, reason: "gone")
        try await lab.settle()
        lab.network.bringUpUnnoticed(lab.relay)
        try await lab.settle()
        #expect(try await session.state().relays.map(\.isCaughtUp) == [false])
        #expect(try await session.attempt(.foregrounded) == .done(chatID: nil))
        #expect(try await session.state().relays.map(\.connection) == [.connected])
        #expect(try await session.state().relays.map(\.isCaughtUp) == [true])
        #expect(try await bob.state().relays.map(\.isCaughtUp) == [false])
        try await bob.perform(.foregrounded)
        #expect(try await bob.state().relays.map(\.isCaughtUp) == [true])
        checkPromises(session)
    }
}
