import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct WelcomeReducerTests {
    private func started(_ count: Int) throws -> ReducerWorld {
        var world = try ReducerWorld(count)
        for index in 0..<count { world.reduce(index, .started) }
        world.settle()
        return world
    }

    private func list(_ world: inout ReducerWorld, _ index: Int, _ relays: [RelayURL]) -> Event {
        RelayListEvents.event(
            .inboxRelays, relays: relays, by: world[index].keys, now: ReducerWorld.start + 1, using: &world.random)
    }

    private func publish(_ world: inout ReducerWorld, _ index: Int, _ kind: Kind) throws -> AppEffect {
        try #require(
            world[index].due.first { if case .publish(_, let event, _) = $0 { event.kind == kind } else { false } })
    }

    /// Answers account 0's key package searches for an action, up to the events that it then publishes.
    private func find(_ world: inout ReducerWorld) throws {
        while let position = world[0].due.firstIndex(where: {
            if case .fetch(.keyPackages, _, _) = $0 { true } else { false }
        }) {
            guard case .fetch(let purpose, let filters, let relays) = world.accounts[0].due.remove(at: position) else {
                return
            }
            let found = world.relayed.filter { event in filters.contains { $0.matches(event) } }
            for relay in relays { world.reduce(0, .fetched(purpose, [relay: .events(found)])) }
        }
    }

    @Test func sendsWelcomeToInboxAndGroupRelays() throws {
        var world = try self.started(2)
        let inbox = [try RelayURL("wss://inbox.example"), try RelayURL("ws://10.0.0.1:7777")]
        world.relayed.append(self.list(&world, 1, inbox))
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        try self.find(&world)
        guard case .publish(_, _, let relays) = try self.publish(&world, 0, .giftWrap) else { return }
        #expect(relays == inbox + [ReducerWorld.relay])
        #expect(world[0].durable.state.memos.keys.filter { $0.kind == .peerRelays }.isEmpty)
    }

    @Test func peerInboxSurvivesCrashBeforeWelcome() throws {
        var world = try self.started(3)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let inbox = [try RelayURL("wss://inbox.example")]
        world.relayed.append(self.list(&world, 2, inbox))
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        try self.find(&world)
        let row = try #require(world[0].publishing.first { $0.event.kind == .groupEvent }).row
        #expect(world[0].durable.state.memos.keys.filter { $0.kind == .peerRelays }.count == 1)
        try world.restart(0)
        world.connect(0)
        world.accept(0, row)
        guard case .publish(_, _, let relays) = try self.publish(&world, 0, .giftWrap) else { return }
        #expect(relays == inbox + [ReducerWorld.relay])
        #expect(world[0].durable.state.memos.keys.filter { $0.kind == .peerRelays }.isEmpty)
    }

    @Test func reportsRefusedWelcome() throws {
        var world = try self.started(3)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key, world[2].key]), "create")
        try self.find(&world)
        let welcomes = world[0].durable.state.outbox.filter { $0.purpose == .welcome }
        #expect(welcomes.count == 2 && world[0].outcomes["create"] == nil)
        let refused = try #require(welcomes.first { $0.id.hasSuffix(world[2].key.hex) })
        for row in welcomes {
            world.answer(0, row.id, row == refused ? .refused("blocked: not here") : .accepted)
        }
        #expect(
            world[0].outcomes["create"]
                == .partlyDone(
                    chatID: world[0].chatID, left: [world[2].key: .welcomeRefused(reason: "blocked: not here")]))
        #expect(world[0].model.state.toast?.contains("blocked: not here") == true)
        #expect(world[0].notes.contains(.sendFailed(reason: "welcome: blocked: not here")))
        #expect(!world[0].model.invitations.isDelivering)
    }

    @Test func stopsAwaitingWelcomeAtDeadline() throws {
        var world = try self.started(2)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        try self.find(&world)
        let wake = world[0].due.compactMap { effect -> (CoreTimer, Int64)? in
            if case .wake(let timer, let time) = effect { (timer, time) } else { nil }
        }
        let (timer, time) = try #require(wake.first)
        #expect(time == world.now + 20_000)
        world.reduce(0, .timer(timer))
        #expect(world[0].outcomes["create"] == .done(chatID: world[0].chatID))
        #expect(world[0].durable.state.outbox.contains { $0.purpose == .welcome })
        world.settle()
        #expect(world[1].model.groups.count == 1)
    }

    // MARK: Peers who cannot be invited

    @Test func createsGroupWithoutMissingPeersOnRequest() throws {
        var world = try self.started(2)
        let stranger = KeyPair.generate(using: &world.random).publicKey
        let peers = [world[1].key, stranger]
        world.act(0, .createGroupChat(name: "all", peers: peers), "all")
        world.settle()
        guard case .failed(let error)? = world[0].outcomes["all"] else {
            Issue.record("expected the action to fail")
            return
        }
        #expect(error.code == .noKeyPackage && error.peers == [stranger: .missing])
        #expect(error.message.contains(stranger.npub) && !error.message.contains(world[1].key.npub))
        #expect(world[0].model.groups.isEmpty)
        world.act(0, .createGroupChat(name: "some", peers: peers, missing: .proceedWithout), "some")
        world.settle()
        #expect(
            world[0].outcomes["some"]
                == .partlyDone(chatID: world[0].chatID, left: [stranger: .keyPackage(.missing)]))
        #expect(world[1].group?.members.count == 2)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [stranger], missing: .proceedWithout), "add")
        world.settle()
        #expect(world[0].outcomes["add"]?.failure == .noKeyPackage)
        #expect(world[0].group?.pending == nil)
    }

    @Test func addsMembersWithoutMissingPeersOnRequest() throws {
        var world = try self.started(3)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let stranger = KeyPair.generate(using: &world.random).publicKey
        world.act(
            0, .addGroupMembers(chatID: world[0].chatID, peers: [stranger, world[2].key], missing: .proceedWithout),
            "add")
        world.settle()
        #expect(
            world[0].outcomes["add"] == .partlyDone(chatID: world[0].chatID, left: [stranger: .keyPackage(.missing)]))
        #expect(world[2].group?.members.count == 3)
    }

    @Test func searchReturnsVerdictForEachPeer() throws {
        var world = try self.started(2)
        let stranger = KeyPair.generate(using: &world.random).publicKey
        world.act(0, .findKeyPackages([world[1].key, stranger, stranger]), "find")
        #expect(world[0].model.state.busy == .init())
        world.settle()
        guard case .found(let verdicts)? = world[0].outcomes["find"] else {
            Issue.record("expected verdicts")
            return
        }
        #expect(verdicts.count == 2 && verdicts[stranger] == .missing && verdicts[world[1].key]?.isUsable == true)
        world.act(0, .findKeyPackages([]), "nobody")
        #expect(world[0].outcomes["nobody"] == .found([:]))
        #expect(!world[0].model.invitations.isSearching)
    }

    @Test func namedChatOfTwoHasTwoAdmins() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createChat(peer: world[1].key, name: "Club"), "create")
        world.settle()
        let chat = try #require(world[0].model.state.chatList.first)
        #expect(world[0].outcomes["create"] == .done(chatID: chat.chatID))
        #expect(chat.name == "Club" && chat.isGroup && chat.members.count == 1 && chat.allMembers.allSatisfy(\.isAdmin))
    }

    // MARK: Invitees

    @Test func openInvitationDescribesGroupAfterRestart() throws {
        var world = try ReducerWorld(3, invites: .nobody)
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key, world[2].key]), "create")
        world.settle()
        let invite = try #require(world[1].model.state.invites.first)
        #expect(invite.inviter == world[0].key)
        let chat = try #require(world[0].model.state.chatList.first)
        #expect(
            invite.group
                == .init(
                    name: "Lab", description: "", memberCount: 3, chatID: chat.chatID,
                    nostrGroupID: chat.routingIDs.first))
        try world.restart(1)
        #expect(world[1].model.state.invites == [invite])
        // The same invitation in another wrapper.
        let wrap = try #require(
            world.relayed.first { $0.kind == .giftWrap && $0.firstTag("p")?.value == world[1].key.hex })
        let rumor = try GiftWrap.unwrap(wrap, by: world[1].keys).rumor
        #expect(invite.wrapper == wrap.id && invite.welcome == rumor.id)
        world.receive(
            1,
            try GiftWrap.wrap(
                rumor, from: world[0].keys, to: world[1].key, now: ReducerWorld.start, using: &world.random))
        #expect(world[1].model.state.invites == [invite])
        world.act(1, .acceptInvite(wrapper: invite.wrapper), "accept")
        world.settle()
        #expect(world[1].durable.state.memos.keys.filter { $0.kind == .invitePreview }.isEmpty)
        // Received again after joining.
        world.receive(
            1,
            try GiftWrap.wrap(
                rumor, from: world[0].keys, to: world[1].key, now: ReducerWorld.start, using: &world.random))
        #expect(world[1].model.state.invites.isEmpty && world[1].model.groups.count == 1)
    }
}
