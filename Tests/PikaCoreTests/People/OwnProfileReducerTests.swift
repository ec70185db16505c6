import Nostr
import Testing

@testable import PikaCore

@Suite struct OwnProfileReducerTests {
    private let relay = ReducerWorld.relay

    private func world() throws -> ReducerWorld {
        var world = try ReducerWorld(1)
        // Without key packages, no relay lists are published.
        world.accounts[0].configuration.publishesKeyPackage = false
        try world.restart(0)
        world.settle()
        return world
    }

    @Test func rewritesProfileWithoutLoss() throws {
        var world = try self.world()
        let tags = [Nostr.Tag("i", "github:x", "y")]
        world.post(
            .metadata, by: world[0].keys, #"{"nip05":"a@b","name":"old","about":"stays"}"#, tags: tags,
            at: ReducerWorld.start + 50)
        let step = world.act(0, .saveProfile(ProfileDraft(name: " new ", picture: "https://x.example/p")), "save")
        #expect(step.queued.isEmpty && step.changes.isEmpty)
        let filter = Filter(authors: [world[0].key], kinds: [.metadata, .followList, .relayList])
        #expect(step.effects == [.fetch(.own(reading: 1), [filter], from: [self.relay])])
        #expect(world[0].outcomes["save"] == nil)
        world.catchUp(0)
        #expect(world[0].outcomes["save"] == .done(chatID: nil))
        #expect(world[0].durable.state.outbox.map(\.purpose) == [.profile])
        world.settle()
        let event = try #require(world.newest(.metadata, of: 0))
        #expect(
            event.content
                == #"{"nip05":"a@b","name":"new","about":"stays","display_name":"new","picture":"https://x.example/p"}"#
        )
        #expect(event.tags == tags && event.createdAt == ReducerWorld.start + 51)
        try event.verify()
        #expect(world[0].model.state.myProfile?.name == "new")
        #expect(world[0].model.state.myProfile?.about == "stays")
        #expect(world[0].durable.state.outbox.isEmpty)
        try world.restart(0)
        #expect(world[0].model.state.myProfile?.shownName == "new")
        // Empty fields are removed.
        world.act(0, .saveProfile(ProfileDraft(name: "", about: " ")), "clear")
        world.settle()
        #expect(
            world.newest(.metadata, of: 0)?.content == #"{"nip05":"a@b","picture":"https://x.example/p"}"#)
        #expect(world[0].model.state.myProfile?.name == nil)
    }

    @Test func refreshDuringReadingReadsAgain() throws {
        var world = try self.world()
        world.act(0, .refreshProfile, "one")
        world.act(0, .refreshProfile, "two")
        world.act(0, .refreshProfile, "three")
        world.reduce(0, .fetched(.own(reading: 1), [self.relay: .events([])]))
        #expect(world[0].outcomes["one"] == .done(chatID: nil))
        #expect(world[0].outcomes["two"] == nil && world[0].outcomes["three"] == nil)
        // Published after the first read was answered.
        let event = world.post(.metadata, by: world[0].keys, #"{"name":"new"}"#)
        world.reduce(0, .fetched(.own(reading: 2), [self.relay: .events([event])]))
        #expect(world[0].outcomes["two"] == .done(chatID: nil) && world[0].outcomes["three"] == .done(chatID: nil))
        #expect(world[0].model.state.myProfile?.name == "new")
        #expect(!world[0].model.people.own.isReading && !world[0].model.people.own.hasRefreshes)
    }

    @Test func neverOverwritesUnreadProfile() throws {
        var world = try self.world()
        world.act(0, .saveProfile(ProfileDraft(name: "x")), "save")
        let step = world.reduce(0, .fetched(.own(reading: 1), [self.relay: .failed("down")]))
        #expect(world[0].outcomes["save"]?.failure == .noRelay)
        #expect(step.queued.isEmpty && world[0].model.state.myProfile == nil)
        // A profile that was read before can be edited without a relay.
        world.accounts[0].due = []
        world.post(.metadata, by: world[0].keys, #"{"name":"known"}"#)
        world.act(0, .refreshProfile)
        world.settle()
        world.now += 90_000
        world.act(0, .saveProfile(ProfileDraft(about: "more")), "offline")
        world.accounts[0].due = []
        world.reduce(0, .fetched(.own(reading: 3), [self.relay: .failed("down")]))
        #expect(world[0].outcomes["offline"] == .done(chatID: nil))
        #expect(world[0].durable.state.outbox.map(\.event.content) == [#"{"name":"known","about":"more"}"#])
    }

    @Test func needsEveryRelayUnlessOneHasProfile() throws {
        let second = try RelayURL("wss://second.example")
        var world = try ReducerWorld(1)
        world.accounts[0].configuration.relays.append(second)
        try world.restart(0)
        world.accounts[0].due = []
        let peer = KeyPair.generate(using: &world.random).publicKey
        world.act(0, .follow(peer), "one")
        let queried = world[0].due.compactMap { if case .fetch(.own, _, let relays) = $0 { relays } else { nil } }
        #expect(queried == [[self.relay], [second]])
        world.reduce(0, .fetched(.own(reading: 1), [self.relay: .events([])]))
        #expect(world[0].outcomes["one"] == nil)
        world.reduce(0, .fetched(.own(reading: 1), [second: .failed("down")]))
        #expect(world[0].outcomes["one"]?.failure == .noRelay)
        // An unreachable relay may hold the list, unless another relay has it.
        world.act(0, .follow(peer), "two")
        let list = world.post(.followList, by: world[0].keys, "", tags: [Nostr.Tag("p", world[0].key.hex)])
        world.reduce(0, .fetched(.own(reading: 2), [self.relay: .events([list])]))
        world.reduce(0, .fetched(.own(reading: 2), [second: .failed("down")]))
        #expect(world[0].outcomes["two"] == .done(chatID: nil))
        #expect(world[0].durable.state.outbox.last { $0.purpose == .followList }?.event.tags.count == 2)
    }

    @Test func followListKeepsForeignEntries() throws {
        var world = try self.world()
        let (a, b) = (
            KeyPair.generate(using: &world.random).publicKey, KeyPair.generate(using: &world.random).publicKey
        )
        let known = [Nostr.Tag("p", a.hex, "wss://a.example", "ally"), Nostr.Tag("t", "x")]
        world.post(.followList, by: world[0].keys, "{}", tags: known, at: ReducerWorld.start + 9)
        world.act(0, .follow(b), "follow")
        world.settle()
        #expect(world[0].outcomes["follow"] == .done(chatID: nil))
        var event = try #require(world.newest(.followList, of: 0))
        #expect(event.tags == known + [.user(b)] && event.content == "{}")
        #expect(event.createdAt == ReducerWorld.start + 10)
        #expect(world[0].model.state.followList.map(\.profile.publicKey) == [a, b])
        // Already followed: nothing is published.
        let count = world.relayed.count
        world.act(0, .follow(b), "again")
        world.settle()
        #expect(world[0].outcomes["again"] == .done(chatID: nil) && world.relayed.count == count)
        world.act(0, .unfollow(a), "unfollow")
        world.settle()
        event = try #require(world.newest(.followList, of: 0))
        #expect(event.tags == [Nostr.Tag("t", "x"), .user(b)] && event.createdAt == ReducerWorld.start + 11)
        try world.restart(0)
        #expect(world[0].model.state.followList.map(\.profile.publicKey) == [b])
    }

    @Test func mergesConcurrentChanges() throws {
        var world = try self.world()
        let peers = (0..<3).map { _ in KeyPair.generate(using: &world.random).publicKey }
        for (number, peer) in peers.enumerated() { world.act(0, .follow(peer), "f\(number)") }
        world.act(0, .unfollow(peers[1]), "u")
        world.act(0, .saveProfile(ProfileDraft(name: "a")), "s1")
        world.act(0, .saveProfile(ProfileDraft(about: "b")), "s2")
        world.settle()
        for request in ["f0", "f1", "f2", "u", "s1", "s2"] {
            #expect(world[0].outcomes[request] == .done(chatID: nil), "\(request)")
        }
        #expect(world.relayed.count { $0.kind == .followList } == 1)
        #expect(world.newest(.followList, of: 0)?.tags == [.user(peers[0]), .user(peers[2])])
        #expect(
            world.relayed.filter { $0.kind == .metadata }.map(\.content)
                == [#"{"name":"a","display_name":"a","about":"b"}"#])
    }

    @Test func laterWriteReplacesPendingOne() throws {
        var world = try self.world()
        world.act(0, .saveProfile(ProfileDraft(name: "a")), "one")
        world.catchUp(0)
        world.act(0, .saveProfile(ProfileDraft(name: "b")), "two")
        let rows = world[0].durable.state.outbox
        #expect(rows.map(\.event.content) == [#"{"name":"b","display_name":"b"}"#])
        #expect(rows.first?.event.createdAt == ReducerWorld.start + 1)
        world.settle()
        #expect(world[0].durable.state.outbox.isEmpty)
    }

    @Test func reportsRefusalByEveryRelay() throws {
        var world = try self.world()
        world.act(0, .saveProfile(ProfileDraft(name: "a")), "one")
        world.catchUp(0)
        let row = try #require(world[0].durable.state.outbox.first)
        world.answer(0, row.id, .refused("blocked: no"))
        #expect(world[0].model.state.toast?.contains("blocked: no") == true)
        #expect(world[0].durable.state.outbox.isEmpty)
    }

    @Test func refusesInvalidProfiles() throws {
        var world = try self.world()
        func refusal(_ action: AppAction) -> AppCoreError.Code? {
            world.act(0, action, "x")
            world.settle()
            let outcome = world.accounts[0].outcomes.removeValue(forKey: "x")
            #expect(outcome != nil)
            return outcome?.failure
        }
        let image = OutgoingImage(bytes: [1], mediaType: "image/png")
        #expect(refusal(.saveProfile(ProfileDraft(image: image))) == .notAllowed)
        #expect(refusal(.saveProfile(ProfileDraft(name: String(repeating: "x", count: 257)))) == .notAllowed)
        #expect(refusal(.saveProfile(ProfileDraft(about: String(repeating: "x", count: 4097)))) == .notAllowed)
        let own = world[0].key
        #expect(refusal(.follow(own)) == .notAllowed)
        let nobody = try PublicKey(hex: String(repeating: "f", count: 64))
        #expect(refusal(.follow(nobody)) == .notAllowed)
        // Other clients may be able to read a profile that this program cannot parse.
        world.post(.metadata, by: world[0].keys, #"{"name":"a","n":99999999999999999999}"#)
        world.now += 90_000
        #expect(refusal(.saveProfile(ProfileDraft(name: "b"))) == .notAllowed)
        // Content that is not JSON may be overwritten.
        world.post(.metadata, by: world[0].keys, "not a profile", at: ReducerWorld.start + 1)
        world.now += 90_000
        #expect(refusal(.saveProfile(ProfileDraft(name: "b"))) == nil)
        #expect(world.newest(.metadata, of: 0)?.content == #"{"name":"b","display_name":"b"}"#)
    }
}
