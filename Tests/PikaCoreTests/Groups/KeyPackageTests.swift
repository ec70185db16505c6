import BotTesting
import Nostr
import PikaCore
import Testing

@Suite struct KeyPackageTests {
    @Test func findsPeersThroughTheirRelayLists() async throws {
        let lab = try GroupLab(seed: 100, relays: 3)
        let alice = try await lab.member("alice", relays: [lab.relays[0]])
        // Bob's lists are also on Alice's relay, as on a general relay; his key packages are not.
        let bob = try await lab.member("bob", relays: [lab.relays[1], lab.relays[2]])
        for event in lab.network.events(at: lab.relays[1]) where event.kind.isReplaceable {
            lab.network.inject(event, at: lab.relays[0])
        }
        lab.network.takeDown(lab.relays[1])
        let chat = try await alice.create("far apart", inviting: [bob])
        #expect(lab.network.events(at: lab.relays[2]).contains { $0.kind == .giftWrap })
        try await alice.say("found you", in: chat)
        #expect(bob.heard() == ["found you"])
    }

    @Test func searchDistinguishesMissingFromUnknown() async throws {
        let lab = try GroupLab(seed: 101, relays: 2)
        let alice = try await lab.member("alice", relays: [lab.relays[0]])
        let bob = try await lab.member("bob", relays: [lab.relays[1]])
        let carol = try await lab.member("carol", relays: [lab.relays[1]])
        for event in lab.network.events(at: lab.relays[1])
        where event.kind.isReplaceable && event.pubkey == bob.publicKey { lab.network.inject(event, at: lab.relays[0]) }
        func search() async throws -> [PublicKey: KeyPackageVerdict] {
            guard
                case .found(let verdicts) = try await alice.perform(.findKeyPackages([bob.publicKey, carol.publicKey]))
            else { return [:] }
            return verdicts
        }
        let first = try await search()
        #expect(first[bob.publicKey]?.isUsable == true && first[carol.publicKey] == .missing)
        lab.network.takeDown(lab.relays[1])
        #expect(try await search() == [bob.publicKey: .noRelayAnswered, carol.publicKey: .missing])
        lab.network.takeDown(lab.relays[0])
        #expect(try await search() == [bob.publicKey: .noRelayAnswered, carol.publicKey: .noRelayAnswered])
    }

    @Test func everyJoinLeavesOneFreshPackage() async throws {
        let lab = try GroupLab(seed: 102)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        for number in 0..<4 {
            try await alice.create("group \(number)", inviting: [bob])
            let packages = lab.network.events(at: lab.relay).filter {
                $0.pubkey == bob.publicKey && ($0.kind == .keyPackage || $0.kind == .addressableKeyPackage)
            }
            // One package of each generation.
            #expect(packages.count == 2 && Set(packages.map(\.content)).count == 2)
        }
        #expect(try await bob.state().chatList.count == 4)
        bob.crash()
        try await bob.restart()
        try await alice.create("after the crash", inviting: [bob])
        #expect(try await bob.state().chatList.count == 5)
    }

    @Test func refreshesPackageAfterMonths() async throws {
        let lab = try GroupLab(seed: 103)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        try await lab.advance(by: .seconds(100 * 86_400))
        try await alice.create("a hundred days", inviting: [bob])
        bob.crash()
        try await lab.advance(by: .seconds(100 * 86_400))
        guard
            case .failed(let error)? = try await alice.attempt(
                .createGroupChat(name: "nobody home", peers: [bob.publicKey]))
        else {
            Issue.record("expected an expired key package to be refused")
            return
        }
        #expect(error.peers == [bob.publicKey: .expired])
        try await bob.restart()
        try await alice.create("back again", inviting: [bob])
        #expect(try await bob.state().chatList.map(\.name).sorted() == ["a hundred days", "back again"])
    }

    @Test func readsInvitationAfterDaysOffline() async throws {
        let lab = try GroupLab(seed: 104)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        try await alice.create("first", inviting: [bob])
        bob.crash()
        try await alice.create("while away", inviting: [bob])
        try await lab.advance(by: .seconds(12 * 86_400))
        try await bob.restart()
        try await lab.advance(by: .seconds(7200))
        #expect(try await bob.state().chatList.map(\.name).sorted() == ["first", "while away"])
    }
}
