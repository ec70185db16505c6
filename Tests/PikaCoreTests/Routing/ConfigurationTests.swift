import BotTesting
import Nostr
import PikaCore
import Testing

@Suite struct ConfigurationTests {
    private func reload(_ member: LabMember, relays: [RelayURL]) async throws {
        try await member.perform(
            .reloadConfiguration(CoreConfiguration(relays: relays, invites: .anyone, selfUpdate: .never)))
    }

    @Test func invitationsReachAccountAtNewRelay() async throws {
        let lab = try GroupLab(seed: 441, relays: 2)
        let bob = try await lab.member("bob", relays: [lab.relays[0]])
        let ann = try await lab.member("ann", relays: [lab.relays[0]])
        try await lab.advance(by: .seconds(2))
        try await self.reload(ann, relays: [lab.relays[1]])
        lab.network.takeDown(lab.relays[1])
        lab.network.bringUp(lab.relays[1])
        try await lab.settle()
        // Bob reads only the first relay, while the lists now name the second.
        try await bob.perform(.createGroupChat(name: "found", peers: [ann.publicKey]))
        #expect(try await ann.state().chatList.map(\.name) == ["found"])
    }

    @Test func reloadConnectsNewRelays() async throws {
        let lab = try GroupLab(seed: 440, relays: 2)
        let ann = try await lab.member("ann", relays: [lab.relays[1]])
        #expect(try await ann.state().relays.map(\.url) == [lab.relays[1]])
        try await self.reload(ann, relays: lab.relays)
        let relays = try await ann.state().relays
        #expect(relays.map(\.url) == lab.relays)
        #expect(relays.allSatisfy { $0.connection == .connected && $0.isCaughtUp })
    }

    @Test func foregroundedReconnectsReturnedRelays() async throws {
        let lab = try GroupLab(seed: 442)
        let bob = try await lab.member("bob")
        lab.network.takeDown(lab.relay, reason: "gone")
        try await lab.settle()
        lab.network.bringUpUnnoticed(lab.relay)
        try await lab.settle()
        #expect(try await bob.state().relays.map(\.isCaughtUp) == [false])
        try await bob.perform(.foregrounded)
        #expect(try await bob.state().relays.map(\.connection) == [.connected])
        #expect(try await bob.state().relays.map(\.isCaughtUp) == [true])
    }
}
