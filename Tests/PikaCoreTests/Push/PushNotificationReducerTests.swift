import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Requests to push servers to wake members' devices (docs/protocol/marmot.md §7.6).
@Suite struct PushNotificationReducerTests {
    @Test func notifiesDevicesOfOtherMembers() throws {
        var world = try ReducerWorld.group(3)
        let (one, two) = (KeyPair.generate(using: &world.random), KeyPair.generate(using: &world.random))
        for server in [one, two] { world.postInbox(of: server) }
        world.register(0, with: one, token: [10])
        world.register(1, with: one, token: [11])
        world.register(2, with: two, token: [12])
        world.act(0, .setPushNotifications(true))
        // Messages within a second share one request.
        for text in ["hi", "hello", "hey"] { world.say(0, text) }
        world.advance(seconds: 3)
        #expect(try world.requestedDevices(by: one) == [[[11]]])
        #expect(try world.requestedDevices(by: two) == [[[12]]])
        // The list of relays is remembered.
        world.say(0, "again")
        world.advance(seconds: 3)
        #expect(try world.requestedDevices(by: one) == [[[11]], [[11]]])
    }

    @Test func notifiesOnlyWhenEnabled() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.postInbox(of: server)
        world.register(1, with: server, token: [11])
        world.say(0, "off")
        world.advance(seconds: 3)
        world.act(0, .setPushNotifications(true))
        world.act(0, .reactToMessage(chatID: world[0].chatID, messageID: try EventID.of(1), emoji: "+"))
        world.advance(seconds: 3)
        world.act(0, .setPushNotifications(false))
        world.say(0, "off again")
        world.advance(seconds: 3)
        #expect(try world.requestedDevices(by: server).isEmpty)
    }

    @Test func asksInboxRelaysOfServer() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        let (hint, inbox) = (try RelayURL("wss://hint.example"), try RelayURL("wss://inbox.example"))
        world.act(
            1,
            .registerPushToken(
                PushRegistration(server: server.publicKey, relay: hint, platform: .apns, token: [11])))
        world.settle()
        world.act(0, .setPushNotifications(true))
        world.say(0, "hi")
        let row = try #require(world[0].publishing.last?.row)
        #expect(!world[0].due.contains { if case .fetch = $0 { true } else { false } })
        world.accept(0, row)
        world.now += 2000
        world.reduce(0, .timer(.push))
        let filter = Filter(authors: [server.publicKey], kinds: [.inboxRelays])
        let purpose = FetchPurpose.pushServer(server.publicKey)
        #expect(world[0].due.contains(.fetch(purpose, [filter], from: [hint, ReducerWorld.relay])))
        let list = world.postInbox(of: server, [inbox])
        world.reduce(0, .fetched(purpose, [hint: .events([list]), ReducerWorld.relay: .failed("down")]))
        let requests = world[0].due.compactMap { effect -> [RelayURL]? in
            if case .publish(let row, _, let relays) = effect, row.hasPrefix("notification/") { relays } else { nil }
        }
        #expect(requests == [[inbox]])
        // A repeated answer has no effect.
        let step = world.reduce(0, .fetched(purpose, [hint: .events([list])]))
        #expect(step.queued.isEmpty)
    }

    @Test func ignoresForeignRelayLists() throws {
        var world = try ReducerWorld.group(2)
        let (server, stranger) = (KeyPair.generate(using: &world.random), KeyPair.generate(using: &world.random))
        world.register(1, with: server, token: [11])
        world.act(0, .setPushNotifications(true))
        world.say(0, "hi")
        world.accept(0, try #require(world[0].publishing.last?.row))
        world.now += 2000
        world.reduce(0, .timer(.push))
        let foreign = world.postInbox(of: stranger)
        let step = world.reduce(
            0, .fetched(.pushServer(server.publicKey), [ReducerWorld.relay: .events([foreign])]))
        #expect(step.queued.isEmpty)
        #expect(
            world[0].notes.contains {
                if case .sendFailed(let reason) = $0 { reason.contains("no relays") } else { false }
            })
        // The search is not repeated for a while.
        world.settle()
        let before = world.relayed.count
        world.say(0, "again")
        world.advance(seconds: 3)
        #expect(world.relayed.count == before + 1)
    }

    @Test func boundsNotificationsOfOneGroup() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.postInbox(of: server)
        world.register(1, with: server, token: [11])
        world.act(0, .setPushNotifications(true))
        // The clock is set back after each round, so that the allowance does not recover.
        for number in 0..<15 {
            world.say(0, "\(number)")
            world.settle()
            world.now += 2000
            world.reduce(0, .timer(.push))
            world.settle()
            world.now -= 2000
        }
        #expect(try world.requestedDevices(by: server).count == 10)
        #expect(world[0].notes.contains(.limited(scope: "push")))
        world.now += 60_000
        world.say(0, "later")
        world.advance(seconds: 3)
        #expect(try world.requestedDevices(by: server).count == 11)
    }

    @Test func groupsNeverShareARequest() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(1, with: server, token: [11])
        world.act(0, .createGroupChat(name: "Second", peers: [world[1].key]), "second")
        world.settle()
        world.act(0, .setPushNotifications(true))
        let chats = world[0].model.state.chatList.map(\.chatID)
        #expect(chats.count == 2)
        for chatID in chats {
            world.act(0, .sendMessage(chatID: chatID, OutgoingMessage(content: "hi")), chatID.rawValue)
        }
        world.settle()
        world.postInbox(of: server)
        world.now += 2000
        world.reduce(0, .timer(.push))
        world.settle()
        #expect(try world.requestedDevices(by: server) == [[[11]], [[11]]])
    }

    @Test func relayedRoutesNeverDisplaceStatedServers() throws {
        var world = try ReducerWorld.group(7)
        let server = KeyPair.generate(using: &world.random)
        world.postInbox(of: server)
        world.register(1, with: server, token: [11])
        let request = try #require(world.messages(0, .pushTokenRequest).last)
        var others: [String] = []
        for _ in 0..<PushRequests.maximumServers {
            others.append(KeyPair.generate(using: &world.random).publicKey.hex)
        }
        // Two tokens for each of the other servers, in the names of silent members.
        var byte: UInt8 = 20
        for _ in 0..<PushTokens.routesPerLeaf {
            var list: [[String]] = []
            for peer in 3...6 {
                byte += 1
                let leaf = try #require(world.leaf(of: peer))
                var tag = try ReducerWorld.tokenTag(byte, "\(leaf.rawValue)")
                tag[2] = others[Int(byte) % others.count]
                list.append(tag)
            }
            world.send(2, .pushTokenList, list + [["e", request.id.hex]])
        }
        #expect(world.pushEntries(0, of: 3).map(\.routes.count) == [PushTokens.routesPerLeaf])
        world.act(0, .setPushNotifications(true))
        world.say(0, "hi")
        world.advance(seconds: 3)
        #expect(try world.requestedDevices(by: server) == [[[11]]])
    }

    @Test func silentServersLeaveRoomForOthers() throws {
        var world = try ReducerWorld.group(3)
        let (silent, server) = (KeyPair.generate(using: &world.random), KeyPair.generate(using: &world.random))
        for keys in [silent, server] { world.postInbox(of: keys) }
        world.register(1, with: silent, token: [11])
        world.register(2, with: server, token: [12])
        world.act(0, .setPushNotifications(true))
        world.say(0, "first")
        world.advance(seconds: 3)
        let rounds = PushRequests.maximumQueued + 4
        for number in 0..<rounds {
            world.say(0, "\(number)")
            world.settle()
            world.now += 6000
            world.reduce(0, .timer(.push))
            // The relay never answers to requests to one of the servers.
            world.accounts[0].due.removeAll {
                if case .publish(_, let event, _) = $0 { event.tags.contains(.user(silent.publicKey)) } else { false }
            }
            world.settle()
        }
        #expect(try world.requestedDevices(by: server).count == rounds + 1)
        #expect(world[0].notes.contains(.limited(scope: "push")))
    }

    @Test func notifiesAfterClockIsSetBack() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.postInbox(of: server)
        world.register(1, with: server, token: [11])
        // Let the answer to the request pass.
        world.advance(seconds: 3)
        world.act(0, .setPushNotifications(true))
        world.say(0, "hi")
        world.settle()
        // The timer runs before its time.
        world.now += 900
        let step = world.reduce(0, .timer(.push))
        let wakes = step.effects.compactMap { effect -> Int64? in
            if case .wake(.push, let time) = effect { time } else { nil }
        }
        #expect(wakes.count == 1 && wakes.allSatisfy { $0 > world.now })
        // Its time is far away.
        world.now -= 3_600_000
        world.reduce(0, .timer(.push))
        world.settle()
        #expect(try world.requestedDevices(by: server) == [[[11]]])
    }

    @Test func givesUpOnUnreachableServers() throws {
        var random = SystemRandomNumberGenerator()
        let keys = KeyPair.generate(using: &random)
        let event = UnsignedEvent(pubkey: keys.publicKey, createdAt: 1, kind: .giftWrap, content: "")
            .signed(by: keys, using: &random)
        var queue = PublishQueue()
        _ = queue.add(
            OutboxRow(
                id: "n", sequence: 1, event: event, relays: [ReducerWorld.relay], purpose: .notification))
        var verdicts: [PublishQueue.Verdict] = []
        for attempt in 0..<4 {
            let now = Int64(attempt) * 60_000
            let started = queue.start(nowMilliseconds: now)
            #expect(started.count == 1)
            verdicts.append(queue.end("n", relays: [ReducerWorld.relay], nowMilliseconds: now))
        }
        #expect(verdicts.last == .refused("no relay answered"))
        #expect(!verdicts.dropLast().contains(.refused("no relay answered")))
    }
}
