import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Sharing this account's token, and following those of others (docs/protocol/marmot.md §7.5).
@Suite struct PushTokenSharingTests {
    @Test func sharesTokenInEveryGroup() throws {
        var world = try ReducerWorld.group(3)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1, 2, 3])
        for index in [1, 2] { #expect(try world.devices(index, of: 0, openedBy: server) == [[1, 2, 3]]) }
        world.act(0, .createGroupChat(name: "Second", peers: [world[1].key]), "second")
        world.settle()
        let groups = world[1].model.groups.values.map(\.groupID)
        #expect(groups.count == 2)
        var tokens: Set<PushToken> = []
        for groupID in groups {
            #expect(try world.devices(1, of: 0, openedBy: server, in: groupID) == [[1, 2, 3]])
            tokens.formUnion(world.pushEntries(1, of: 0, in: groupID).flatMap(\.routes).map(\.token))
        }
        // Encrypted anew for each group, so that the groups of a device cannot be linked.
        #expect(tokens.count == 2)
    }

    @Test func sharesTokenOnlyOnce() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        world.register(0, with: server, token: [1])
        try world.restart(0)
        world.settle()
        #expect(world.messages(1, .pushTokenRequest).count == 1)
    }

    @Test func replacesEarlierToken() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        world.register(0, with: server, token: [2], platform: .apns)
        #expect(try world.devices(1, of: 0, openedBy: server) == [[2]])
    }

    @Test func withdrawsRemovedToken() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        world.act(0, .removePushToken, "remove")
        world.settle()
        #expect(world[0].outcomes["remove"] == .done(chatID: nil))
        #expect(world.messages(1, .pushTokenRemoval).count == 1)
        #expect(world.pushEntries(1, of: 0).map(\.routes) == [[]])
        #expect(world.pushEntries(0, of: 0).isEmpty)
        // There is nothing left to withdraw.
        world.act(0, .removePushToken, "again")
        world.settle()
        #expect(world.messages(1, .pushTokenRemoval).count == 1)
    }

    @Test func withdrawsRemovedTokenInOtherStates() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        let groupID = try #require(world[0].group?.groupID)
        let leaf = try #require(world.leaf(of: 0))
        var tokens = world[0].model.notifications.tokens
        var step = CoreStep.at(world.now)
        let isRemoved = tokens.unregister(&step)
        tokens.forgetSharing(in: groupID, &step)
        #expect(isRemoved && !tokens.isShared(in: groupID, own: leaf))
    }

    @Test func maintenanceSharesTokenAfterFailure() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        let groupID = try #require(world[0].group?.groupID)
        // As after a failed attempt: not shared, and no longer due.
        var step = CoreStep.at(world.now)
        world.accounts[0].model.notifications.tokens.forgetSharing(in: groupID, &step)
        world.reduce(0, .timer(.maintenance))
        world.settle()
        #expect(world.messages(1, .pushTokenRequest).count == 2)
    }

    @Test func refusesInvalidRegistrations() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random).publicKey
        // No point of the curve has this x-coordinate.
        let offCurve = try PublicKey(bytes: [UInt8](repeating: 0xFF, count: 32))
        let cases: [(PublicKey, [UInt8])] = [
            (server, []), (server, [UInt8](repeating: 1, count: 1022)), (offCurve, [1]),
        ]
        for (server, token) in cases {
            let registration = PushRegistration(
                server: server, relay: ReducerWorld.relay, platform: .apns, token: token)
            world.act(0, .registerPushToken(registration), "register")
            #expect(world[0].outcomes["register"]?.failure == .notAllowed)
        }
        #expect(world[0].model.notifications.tokens.registration == nil)
    }

    @Test func descriptionOmitsDeviceToken() throws {
        let world = try ReducerWorld(1)
        let registration = PushRegistration(
            server: world[0].key, relay: ReducerWorld.relay, platform: .fcm, token: [201, 202, 201, 202])
        for text in ["\(registration)", "\(AppAction.registerPushToken(registration))"] {
            #expect(!text.contains("201, 202") && !text.contains("c9cac9ca"), "\(text)")
        }
        var dumped = ""
        dump(registration, to: &dumped)
        #expect(!dumped.contains("- 201"))
    }

    @Test func tokensSurviveRestart() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        world.act(1, .setPushNotifications(true))
        for index in [0, 1] { try world.restart(index) }
        #expect(try world.devices(1, of: 0, openedBy: server) == [[1]])
        #expect(world[1].model.notifications.tokens.notifies)
        #expect(world[0].model.notifications.tokens.registration?.device.secret.copyBytes() == [1])
    }

    @Test func dropsTokensOfFormerMembers() throws {
        var world = try ReducerWorld.group(3)
        let server = KeyPair.generate(using: &world.random)
        world.register(1, with: server, token: [1])
        world.register(2, with: server, token: [2])
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key]))
        world.settle()
        for index in [0, 2] {
            #expect(world.pushEntries(index, of: 1).isEmpty)
            #expect(world.memos(.pushRoutes, index) == 1)
        }
        // The former member drops everything that it knows of the group.
        #expect(world.memos(.pushRoutes, 1) == 0)
    }

    @Test func refreshesTokensBeforeTheyExpire() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        let leaf = try #require(world.leaf(of: 0))
        let groupID = try #require(world[0].group?.groupID)
        var tokens = world[0].model.notifications.tokens
        var others = world[1].model.notifications.tokens
        func expire(_ tokens: inout PushTokens, days: Int64) -> [GroupID] {
            var step = CoreStep.at((ReducerWorld.start + days * 86_400).milliseconds)
            return tokens.expire(&step)
        }
        let early = expire(&tokens, days: 24)
        let isShared = tokens.isShared(in: groupID, own: leaf)
        #expect(early.isEmpty && isShared)
        let due = expire(&tokens, days: 34)
        #expect(due == [groupID] && !tokens.isShared(in: groupID, own: leaf))
        // Members drop a token that was not refreshed.
        let none = expire(&others, days: 34)
        #expect(none.isEmpty && others[groupID].count == 1)
        _ = expire(&others, days: 36)
        #expect(others[groupID].isEmpty)
    }

    @Test func answersRequestsWithKnownTokens() throws {
        var world = try ReducerWorld(3)
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [10])
        world.register(1, with: server, token: [11])
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.settle()
        world.register(2, with: server, token: [12])
        #expect(world.pushEntries(2, of: 0).isEmpty)
        world.advance(seconds: 3)
        #expect(try world.devices(2, of: 0, openedBy: server) == [[10]])
        #expect(try world.devices(2, of: 1, openedBy: server) == [[11]])
        #expect(world.pushEntries(2, of: 0).map(\.isDirect) == [false])
        // The first answer spares the others.
        #expect(world.messages(2, .pushTokenList).count == 1 + world.answersToEarlierRequests)
    }

    @Test func memberStatementReplacesRelayedTokens() throws {
        var world = try ReducerWorld.group(3)
        let leaf = try #require(world.leaf(of: 2))
        world.send(1, .pushTokenRequest, [try ReducerWorld.tokenTag(1)])
        let request = try #require(world.messages(0, .pushTokenRequest).last)
        world.send(
            1, .pushTokenList,
            [try ReducerWorld.tokenTag(2, "\(leaf.rawValue)"), ["e", request.id.hex]])
        #expect(world.pushEntries(0, of: 2).map(\.isDirect) == [false])
        let server = KeyPair.generate(using: &world.random)
        world.register(2, with: server, token: [7])
        #expect(try world.devices(0, of: 2, openedBy: server) == [[7]])
    }
}

extension ReducerWorld {
    /// The lists that answered the requests of the first two accounts, before the third had joined.
    fileprivate var answersToEarlierRequests: Int {
        self.messages(2, .pushTokenList).count { list in
            !self.messages(2, .pushTokenRequest).contains { list.rumor.tags.contains(.event($0.id)) }
        }
    }
}
