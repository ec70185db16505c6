import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct MessageReducerTests {
    @Test func startSubscribesAndAnnouncesAccount() throws {
        var world = try ReducerWorld(1)
        let step = world.reduce(0, .started)
        #expect(
            step.effects.prefix(2) == [
                .setEndpoints(relays: [ReducerWorld.relay], servers: []), .setRelays([ReducerWorld.relay]),
            ])
        #expect(step.effects.contains { if case .subscribe(let sub) = $0 { sub.id == "giftwraps" } else { false } })
        #expect(step.effects.contains(.unsubscribe("groups")))
        #expect(step.queued == [.relayList, .relayList, .keyPackage, .keyPackage])
        let kinds: Set<Kind> = [.keyPackage, .addressableKeyPackage, .keyPackageRelays, .inboxRelays]
        let published = world[0].publishing.map(\.event)
        #expect(Set(published.map(\.kind)) == kinds)
        #expect(world[0].durable.state.keyPackages.count == 2)
        try world.restart(0)
        // Unacknowledged events are sent again, and no new ones are created.
        #expect(world[0].durable.state.keyPackages.count == 2)
        #expect(world[0].publishing.map(\.event) == published)
        world.settle()
        #expect(world[0].model.state.hasPublishedKeyPackage)
        #expect(world[0].durable.state.outbox.isEmpty)
    }

    @Test func redeliversUnfinishedEventsInOrderAfterRestart() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "one")
        world.say(0, "two")
        world.settle()
        let before = world[1].delivered
        world.accounts[1].delivered = []
        try world.restart(1)
        #expect(world[1].delivered == before)
        world.reduce(1, .handled(inboxID: before[0].inboxID, []))
        world.accounts[1].delivered = []
        try world.restart(1)
        #expect(world[1].delivered == Array(before.dropFirst()))
        world.say(0, "three")
        world.settle()
        #expect(world[1].delivered.last.map { $0.inboxID > before[before.count - 1].inboxID } == true)
    }

    @Test func deliversRepeatedMessageOnce() throws {
        var world = try ReducerWorld.group(3)
        world.say(0, "hello")
        world.settle()
        let event = try #require(world.relayed.last)
        world.receive(1, event)
        try world.restart(1)
        world.accounts[1].delivered = []
        world.receive(1, event)
        #expect(world[1].texts.isEmpty)
        #expect(world[1].durable.messages.count == 1)
        #expect(world[2].texts == ["hello"])
    }

    /// Beyond the times, only the random ids could order the messages.
    @Test func ordersBurstsBySendOrder() throws {
        var world = try ReducerWorld.group(3)
        let before = world.relayed.count
        for number in 0..<20 {
            world.say(0, "a\(number)")
            world.say(1, "b\(number)")
            world.settle(offline: [2])
        }
        let sent = world.relayed.dropFirst(before)
        // A burst runs a few seconds ahead of the clock, one for each message; the remaining messages share the last
        // second.
        #expect(Set(sent.map(\.createdAt)).count == 11)
        try world.restart(2)
        world.connect(2)
        #expect(world[2].texts.filter { $0.hasPrefix("a") } == (0..<20).map { "a\($0)" })
        #expect(world[2].texts.filter { $0.hasPrefix("b") } == (0..<20).map { "b\($0)" })
        #expect(sent.sorted { $0.id < $1.id }.map(\.id) != sent.map(\.id))
    }

    /// Early messages wait together, and are delivered in the order of sending.
    @Test func deliversPendingMessagesInSendOrder() throws {
        var world = try ReducerWorld.group(2)
        let before = world.relayed.count
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "other"), "rename")
        world.settle(offline: [1])
        let commits = world.relayed.dropFirst(before)
        for number in 0..<20 { world.say(0, "\(number)") }
        world.settle(offline: [1])
        let messages = world.relayed.dropFirst(before + commits.count).sorted { $0.id < $1.id }
        #expect(messages.count == 20)
        for event in messages { world.receive(1, event) }
        #expect(world[1].texts.isEmpty)
        for event in commits { world.receive(1, event) }
        #expect(world[1].texts == (0..<20).map(String.init))
    }

    @Test func keepsEqualMessagesOfOneSecondApart() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "same")
        world.say(0, "same")
        world.settle()
        #expect(world[1].texts == ["same", "same"])
        #expect(world[0].durable.messages.count == 2)
    }

    @Test func keepsEqualMessagesOfTwoGroupsApart() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .createGroupChat(name: "Second", peers: [world[1].key]), "second")
        world.settle()
        #expect(world[0].model.state.chatList.count == 2)
        for chat in world[0].model.state.chatList {
            world.act(0, .sendMessage(chatID: chat.chatID, OutgoingMessage(content: "same")))
        }
        world.settle()
        #expect(world[1].texts == ["same", "same"])
    }

    @Test func commitsHandledEventWithItsEffects() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "ping")
        world.settle()
        let event = try #require(world[1].delivered.last)
        let effect = HandlerEffect(
            id: "echo/1/0", operation: .send(chatID: event.chatID, OutgoingMessage(content: "pong")))
        let value = HandlerEffect(id: "echo/1/1", operation: .putValue(scope: "echo", key: "n", value: [1]))
        let step = world.reduce(1, .handled(inboxID: event.inboxID, [effect, value]))
        #expect(step.changes.contains { if case .deleteInbox(event.inboxID) = $0 { true } else { false } })
        #expect(step.changes.contains { if case .putOutbox(let row) = $0 { row.id == "echo/1/0" } else { false } })
        #expect(step.changes.contains { if case .putValue("echo", "n", [1]?) = $0 { true } else { false } })
        let again = world.reduce(1, .handled(inboxID: event.inboxID, [effect, value]))
        #expect(again.changes.isEmpty && again.effects.isEmpty)
        world.settle()
        #expect(world[0].texts == ["pong"])
    }

    @Test func invalidHandlerEffectStillFinishesEvent() throws {
        var world = try ReducerWorld.group(2)
        let event = try #require(world[1].delivered.first)
        let effect = HandlerEffect(id: "x", operation: .send(chatID: "00", OutgoingMessage(content: "lost")))
        let step = world.reduce(1, .handled(inboxID: event.inboxID, [effect]))
        #expect(step.changes.count == 1)
        #expect(world[1].notes.contains { if case .sendFailed = $0 { true } else { false } })
    }

    @Test func holdsLaterEpochMessagesUntilCommit() throws {
        var world = try ReducerWorld.group(3)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "New"), "rename")
        world.settle(offline: [1])
        let commit = try #require(world.relayed.last)
        world.say(0, "later")
        world.settle(offline: [1])
        let message = try #require(world.relayed.last)
        world.receive(1, message)
        world.receive(1, message)
        #expect(world[1].durable.state.waiting.map(\.event) == [message])
        #expect(world[1].texts.isEmpty)
        try world.restart(1)
        world.receive(1, commit)
        #expect(world[1].durable.state.waiting.isEmpty)
        #expect(world[1].texts == ["later"])
        #expect(world[1].commits.map(\.newName) == ["New"])
    }

    @Test func boundsUnreadableEventsDroppingOldest() throws {
        var world = try ReducerWorld.group(2)
        let id = try #require(world[1].group?.data.nostrGroupIDHex)
        let signer = KeyPair.generate(using: &world.random)
        for number in 0...PendingEvents.standardGroup.events {
            let event = UnsignedEvent(
                pubkey: signer.publicKey, createdAt: ReducerWorld.start + Int64(number), kind: .groupEvent,
                tags: [Nostr.Tag("h", id)], content: String(repeating: "AAAA", count: 20)
            ).signed(by: signer, using: &world.random)
            world.now = (ReducerWorld.start + Int64(number)).milliseconds
            world.receive(1, event)
        }
        #expect(world[1].durable.state.waiting.count == PendingEvents.standardGroup.events)
        #expect(world[1].notes.filter { $0 == .droppedWaiting }.count == 1)
    }

    @Test func holdsLiveEventsDuringCatchUp() throws {
        var world = try ReducerWorld.group(2)
        let known = world.relayed.count
        for number in 0..<150 {
            world.now += 1000
            world.say(0, "\(number)")
        }
        world.settle(offline: [1])
        let missed = Array(world.relayed[known...])
        let newest = try #require(missed.last)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.receive(1, newest)
        #expect(world[1].texts.isEmpty)
        // One attempt fails; the live event keeps waiting.
        world.reduce(1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .failed("slow")]))
        #expect(world[1].texts.isEmpty)
        #expect(world[1].durable.state.cursors[ReducerWorld.relay.string] == nil)
        world.reduce(1, .timer(.catchUp(ReducerWorld.relay)))
        world.reduce(
            1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .events(missed.dropLast().reversed())]))
        #expect(world[1].texts.count == 150)
        #expect(world[1].durable.state.cursors[ReducerWorld.relay.string] == (newest.createdAt - 1).seconds)
    }

    @Test func deliversLiveEventsFromUnreadableRelay() throws {
        var world = try ReducerWorld.group(2)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.accounts[1].due = []
        world.say(0, "anyway")
        world.settle(offline: [1])
        world.receive(1, try #require(world.relayed.last))
        for attempt in 1...ReadRetries.attempts {
            #expect(world[1].texts.isEmpty, "before attempt \(attempt)")
            world.reduce(1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .failed("closed")]))
            world.accounts[1].due = []
        }
        #expect(world[1].texts == ["anyway"])
        world.say(0, "at once")
        world.settle(offline: [1])
        world.receive(1, try #require(world.relayed.last))
        #expect(world[1].texts == ["anyway", "at once"])
    }

    /// A relay that disconnects before its answer is read from the start on every connection.
    @Test func flappingRelayDoesNotHoldEventsForever() throws {
        var world = try ReducerWorld.group(2)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.accounts[1].due = []
        world.say(0, "anyway")
        world.settle(offline: [1])
        world.receive(1, try #require(world.relayed.last))
        for _ in 1...ReadRetries.attempts + 2 {
            world.reduce(1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .failed("no answer in time")]))
            world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .retrying(attempt: 1, reason: "closed"))))
            world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
            world.accounts[1].due = []
        }
        world.reduce(1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .failed("no answer in time")]))
        #expect(world[1].texts == ["anyway"])
    }

    @Test func unreadableBacklogDoesNotHoldEventsForever() throws {
        var world = try ReducerWorld.group(2)
        world.connect(1)
        var data = try #require(world[0].group?.data)
        data.nostrGroupID = try #require(Bytes32([UInt8](repeating: 0x77, count: 32)))
        world.change(0, to: data)
        // Account 1 publishes its relay list too.
        world.settle(offline: [1])
        world.receive(1, try #require(world.relayed.last { $0.kind == .groupEvent }))
        world.accounts[1].due = []
        let groupID = try #require(world[1].group?.groupID)
        for _ in 1...ReadRetries.attempts {
            world.reduce(
                1, .fetched(.backlog(groupID: groupID), [ReducerWorld.relay: .failed("no answer in time")]))
            world.reduce(1, .timer(.backlog(groupID: groupID)))
            world.accounts[1].due = []
        }
        #expect(world[1].model.state.relays.map(\.connection) == [.connected])
        // The next attempt is in flight.
        world.say(0, "at once")
        world.settle(offline: [1])
        world.receive(1, try #require(world.relayed.last { $0.kind == .groupEvent }))
        #expect(world[1].texts == ["at once"])
    }

    @Test func readsRotatedGroupIDFromItsStart() throws {
        var world = try ReducerWorld.group(2)
        let chatID = world[1].chatID
        let old = ChatID(rawValue: try #require(world[1].group?.data.nostrGroupIDHex))
        world.act(1, .openChat(chatID: old))
        world.settle()
        var data = try #require(world[0].group?.data)
        data.nostrGroupID = try #require(Bytes32([UInt8](repeating: 0x77, count: 32)))
        world.change(0, to: data)
        world.settle(offline: [1])
        let commit = try #require(world.relayed.last)
        world.say(0, "under the new id")
        world.settle(offline: [1])
        world.receive(1, commit)
        world.settle()
        #expect(world[1].texts == ["under the new id"])
        #expect(world[1].model.state.currentChat?.chatID == chatID)
        #expect(world[1].model.state.router.top == .chat(chatID: chatID))
        #expect(world[1].model.state.currentChat?.messages.map(\.content) == ["under the new id"])
        // The former id still identifies the chat.
        world.act(1, .sendMessage(chatID: old, OutgoingMessage(content: "answer")))
        world.settle()
        #expect(world[0].texts == ["answer"])
    }
}
