import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct InviteReducerTests {
    private func invited(_ policy: (ReducerWorld) -> CoreConfiguration.InvitePolicy) throws -> ReducerWorld {
        var world = try ReducerWorld(2)
        let old = world.accounts[1]
        let configuration = CoreConfiguration(relays: [ReducerWorld.relay], invites: policy(world))
        world.accounts[1] = ReducerWorld.Account(
            keys: old.keys, configuration: configuration,
            model: try CoreModel(account: old.keys, configuration: configuration, stored: StoredState()))
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        return world
    }

    @Test func nobodyPolicyAsksFirst() throws {
        var world = try self.invited { _ in .nobody }
        #expect(world[1].model.groups.isEmpty)
        let invite = try #require(world[1].model.state.invites.first)
        #expect(invite.inviter == world[0].key)
        try world.restart(1)
        #expect(world[1].model.state.invites == [invite])
        world.act(1, .acceptInvite(wrapper: invite.wrapper), "accept")
        #expect(world[1].outcomes["accept"] == .done(chatID: world[0].chatID))
        #expect(world[1].durable.state.invites.isEmpty)
        world.settle()
        world.say(0, "hi")
        world.settle()
        #expect(world[1].texts == ["hi"])
        world.act(1, .acceptInvite(wrapper: invite.wrapper), "twice")
        #expect(world[1].outcomes["twice"]?.failure == .unknownInvite)
    }

    @Test func removesDeclinedInvitation() throws {
        var world = try self.invited { _ in .nobody }
        let invite = try #require(world[1].model.state.invites.first)
        world.act(1, .declineInvite(wrapper: invite.wrapper), "decline")
        #expect(world[1].outcomes["decline"] == .done(chatID: nil))
        try world.restart(1)
        #expect(world[1].model.state.invites.isEmpty && world[1].model.groups.isEmpty)
        for event in world.relayed { world.receive(1, event) }
        #expect(world[1].model.state.invites.isEmpty)
    }

    @Test func joinsOnlyThroughNamedInviters() throws {
        #expect(try self.invited { .only([$0[0].key]) }[1].model.groups.count == 1)
        let stranger = try self.invited { .only([$0[1].key]) }
        #expect(stranger[1].model.groups.isEmpty)
        #expect(stranger[1].model.state.invites.count == 1)
    }

    @Test func rereadsGroupBacklogUntilRelayAnswers() throws {
        var world = try self.invited { _ in .nobody }
        world.say(0, "early")
        world.settle()
        let invite = try #require(world[1].model.state.invites.first)
        world.act(1, .acceptInvite(wrapper: invite.wrapper), "accept")
        world.accounts[1].due = []
        // The process ends before the relay's answer, and its cursor is past the message.
        world.accounts[1].durable.state.cursors[ReducerWorld.relay.string] = (ReducerWorld.start + 100_000).seconds
        try world.restart(1)
        world.settle()
        #expect(world[1].texts.isEmpty)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.settle()
        #expect(world[1].texts == ["early"])
        let fetches = world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected))).effects.filter {
            if case .fetch(.backlog, _, _) = $0 { true } else { false }
        }
        #expect(fetches.isEmpty)
    }

    @Test func invitationMayClaimTheIdOfAnother() throws {
        var world = try ReducerWorld.group(2)
        let chat = try #require(world[1].group)
        let keyPackage = try #require(world.relayed.first { $0.kind == .keyPackage && $0.pubkey == world[1].key })
        let intruder = KeyPair.generate(using: &world.random)
        let (group, welcomes) = try MarmotGroup.create(
            GroupData(
                nostrGroupID: chat.data.nostrGroupID, name: "Intruder", description: "",
                admins: [intruder.publicKey], relays: [ReducerWorld.relay]), founder: intruder.publicKey,
            inviting: [try Invitee(keyPackage, now: ReducerWorld.start)], client: "test", now: ReducerWorld.start,
            using: &world.random)
        #expect(group.groupID != chat.groupID)
        let wrap = try GiftWrap.wrap(
            try #require(welcomes.first).rumor, from: intruder, to: world[1].key, now: ReducerWorld.start,
            using: &world.random)
        world.receive(1, wrap)
        // A refusal would let anyone block an invitation.
        #expect(world[1].model.groups.count == 2)
        #expect(
            world[1].notes.contains {
                guard case .routingCollision(chat.data.nostrGroupIDHex, let chatIDs) = $0 else { return false }
                return Set(chatIDs) == [ChatID(chat.groupID), ChatID(group.groupID)]
            })
        world.say(0, "still ours")
        world.settle()
        #expect(world[1].texts == ["still ours"])
        #expect(world[1].delivered.last?.chatID == ChatID(chat.groupID))
    }

    @Test func picksNewestUsableKeyPackage() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.now += 10_000
        world.act(1, .publishKeyPackage)
        world.settle()
        let packages = world.relayed.filter { $0.pubkey == world[1].key }
        let newest = try #require(
            packages.filter { $0.kind == .keyPackage }.max { $0.createdAt < $1.createdAt })
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let wrap = try #require(world.relayed.last { $0.kind == .giftWrap })
        let rumor = try GiftWrap.unwrap(wrap, by: world[1].keys).rumor
        #expect(rumor.tags.first { $0.name == "e" }?.value == newest.id.hex)
    }

    @Test func reportsMissingKeyPackagesAndUnansweringRelays() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        world.settle()
        let stranger = KeyPair.generate(using: &world.random).publicKey
        world.act(0, .createGroupChat(name: "Lab", peers: [stranger]), "none")
        #expect(world[0].model.state.busy.creatingChat)
        world.settle()
        #expect(world[0].outcomes["none"]?.failure == .noKeyPackage)
        #expect(!world[0].model.state.busy.creatingChat)
        world.act(0, .createGroupChat(name: "Lab", peers: [stranger]), "offline")
        guard case .fetch(let purpose, _, _)? = world[0].due.last else { throw AppCoreError(.noRelay, "no fetch") }
        world.reduce(0, .fetched(purpose, [ReducerWorld.relay: .failed("down")]))
        #expect(world[0].outcomes["offline"]?.failure == .noRelay)
        #expect(world[0].model.state.toast != nil)
    }
}
