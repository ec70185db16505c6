import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Token events of hostile members (docs/protocol/marmot.md §7.5).
@Suite struct PushHostileTests {
    @Test func refusesMalformedTokenEvents() throws {
        var world = try ReducerWorld.group(2)
        let tag = try ReducerWorld.tokenTag(1)
        let many = try (0...PushTokens.routesPerLeaf).map { try ReducerWorld.tokenTag(UInt8($0)) }
        let short: [String] = [tag[0], "AAAA", tag[2], tag[3]]
        let page: [String] = [tag[0], tag[1], tag[2], "https://relay.example"]
        let long: [String] = [tag[0], tag[1], tag[2], "wss://relay.example/" + String(repeating: "a", count: 240)]
        let first: [String] = tag + ["0"]
        let negative: [String] = tag + ["-1"]
        let cases: [(kind: Kind, tags: [[String]], content: String)] = [
            (.pushTokenRequest, [], ""), (.pushTokenRequest, [tag], "x"), (.pushTokenRequest, [tag, ["p", "x"]], ""),
            (.pushTokenRequest, many, ""), (.pushTokenRequest, [short], ""), (.pushTokenRequest, [page], ""),
            (.pushTokenRequest, [long], ""),
            (.pushTokenRemoval, [tag], ""), (.pushTokenList, [first], ""),
            (.pushTokenList, [negative, ["e", world[0].key.hex]], ""),
        ]
        for (position, event) in cases.enumerated() {
            world.now += 10_000
            world.send(1, event.kind, event.tags, content: event.content)
            #expect(world.refusedPushEvents(0) == position + 1, "\(event.kind) \(position)")
        }
        #expect(world.pushEntries(0, of: 1).isEmpty && world.memos(.pushRoutes, 0) == 0)
    }

    @Test func refusesListsThatAnswerNoRequest() throws {
        var world = try ReducerWorld.group(3)
        let leaf = try #require(world.leaf(of: 2))
        world.send(
            1, .pushTokenList,
            [try ReducerWorld.tokenTag(2, "\(leaf.rawValue)"), ["e", String(repeating: "ab", count: 32)]])
        #expect(world.refusedPushEvents(0) == 1 && world.pushEntries(0, of: 2).isEmpty)
    }

    @Test func listsNeverOverruleTheMember() throws {
        var world = try ReducerWorld.group(3)
        let server = KeyPair.generate(using: &world.random)
        let (own, victim) = (try #require(world.leaf(of: 0)), try #require(world.leaf(of: 2)))
        world.register(2, with: server, token: [7])
        let request = try #require(world.messages(0, .pushTokenRequest).last)
        let list = [
            try ReducerWorld.tokenTag(1, "\(own.rawValue)"), try ReducerWorld.tokenTag(2, "\(victim.rawValue)"),
            try ReducerWorld.tokenTag(3, "9999"), ["e", request.id.hex],
        ]
        world.send(1, .pushTokenList, list)
        #expect(try world.devices(0, of: 2, openedBy: server) == [[7]])
        #expect(world.pushEntries(0, of: 0).isEmpty)
        // A withdrawn token stays withdrawn.
        world.act(2, .removePushToken)
        world.settle()
        world.now += 10_000
        world.send(1, .pushTokenList, list)
        #expect(world.pushEntries(0, of: 2).map(\.routes) == [[]])
        #expect(world.memos(.pushRoutes, 0) == 1)
    }

    @Test func repeatedRequestsAreAnsweredRarely() throws {
        var world = try ReducerWorld.group(2)
        let server = KeyPair.generate(using: &world.random)
        world.register(0, with: server, token: [1])
        for byte in 1...UInt8(20) {
            world.send(1, .pushTokenRequest, [try ReducerWorld.tokenTag(byte)])
            world.advance(seconds: 3)
        }
        #expect(world.messages(1, .pushTokenList).count == 2)
    }

    @Test func fullLeavesNeverBlockOtherLeaves() throws {
        var world = try ReducerWorld.group(4)
        let groupID = try #require(world[0].group?.groupID)
        let leaves = [try #require(world.leaf(of: 2)), try #require(world.leaf(of: 3))].sorted()
        world.send(1, .pushTokenRequest, [try ReducerWorld.tokenTag(1)])
        let request = try #require(world.messages(0, .pushTokenRequest).last)
        for byte in 10..<UInt8(10 + PushTokens.routesPerLeaf) {
            world.send(
                1, .pushTokenList,
                [try ReducerWorld.tokenTag(byte, "\(leaves[0].rawValue)"), ["e", request.id.hex]])
        }
        world.send(
            1, .pushTokenList,
            [
                try ReducerWorld.tokenTag(20, "\(leaves[0].rawValue)"),
                try ReducerWorld.tokenTag(21, "\(leaves[1].rawValue)"), ["e", request.id.hex],
            ])
        let entries = world[0].model.notifications.tokens[groupID]
        #expect(entries[leaves[0]]?.routes.count == PushTokens.routesPerLeaf)
        #expect(entries[leaves[1]]?.routes.count == 1)
        #expect(world.refusedPushEvents(0) == 1)
    }

    @Test func fewMembersAnswerInLargeGroups() throws {
        func answers(among count: Int) throws -> Int {
            var total = 0
            for _ in 0..<1000 {
                var answers = PushAnswers()
                var step = CoreStep.at(0)
                answers.schedule(try EventID.of(1), of: LeafIndex(rawValue: 1), in: [1], among: count, &step)
                total += answers.removeDue(PushAnswers.maximumDelay).count
            }
            return total
        }
        let (small, large) = (try answers(among: PushAnswers.answerers), try answers(among: 1000))
        // Of a thousand, 8 on average.
        #expect(small == 1000 && large < 50)
    }

    // MARK: PushTokens

    private func route(_ byte: UInt8) throws -> PushRoute {
        let token = try PushToken(bytes: [UInt8](repeating: byte, count: PushToken.count))
        return PushRoute(
            token, server: try PublicKey(bytes: [UInt8](repeating: 0x4F, count: 32)), relay: ReducerWorld.relay)
    }

    /// Applies routes that a leaf's member stated itself, in a separate step; false if there is no room.
    private func apply(
        _ routes: [PushRoute], to tokens: inout PushTokens, of leaf: UInt32 = 3, by member: PublicKey,
        at time: UnixTime,
        in groupID: GroupID = [1]
    ) -> Bool {
        var step = CoreStep.at(0)
        return tokens.apply(
            routes, of: LeafIndex(rawValue: leaf), by: member, at: time, in: groupID, &step)
    }

    @Test func olderStatementsNeverReplaceNewer() throws {
        let member = try PublicKey(bytes: [UInt8](repeating: 1, count: 32))
        let other = try PublicKey(bytes: [UInt8](repeating: 2, count: 32))
        let leaf = LeafIndex(rawValue: 3)
        let routes = try (0...3).map { try self.route($0) }
        var tokens = PushTokens()
        _ = self.apply([routes[1]], to: &tokens, by: member, at: 100)
        _ = self.apply([routes[2]], to: &tokens, by: member, at: 50)
        #expect(tokens[[1]][leaf]?.routes == [routes[1]])
        _ = self.apply([], to: &tokens, by: member, at: 99)
        #expect(tokens[[1]][leaf]?.routes == [routes[1]])
        // The next occupant of the leaf is not bound by the times of the former one.
        _ = self.apply([routes[3]], to: &tokens, by: other, at: 50)
        #expect(tokens[[1]][leaf]?.routes == [routes[3]])
        // A time in the future was accepted before the clock was set back.
        _ = self.apply([routes[1]], to: &tokens, by: other, at: 10_000)
        _ = self.apply([routes[2]], to: &tokens, by: other, at: 60)
        #expect(tokens[[1]][leaf]?.routes == [routes[2]])
        var step = CoreStep.at(0)
        tokens.keep([leaf: member], in: [1], &step)
        #expect(tokens[[1]].isEmpty && step.changes.count == 1)
    }

    @Test func statementsDisplaceRelayedRoutes() throws {
        let member = try PublicKey(bytes: [UInt8](repeating: 1, count: 32))
        let route = try self.route(1)
        var tokens = PushTokens()
        var step = CoreStep.at(0)
        for leaf in 0..<UInt32(PushTokens.routesPerGroup) {
            let isAdded = tokens.add(
                route, relayedFor: LeafIndex(rawValue: leaf), of: member, at: 1, in: [1], &step)
            #expect(isAdded)
        }
        let isApplied = self.apply([route], to: &tokens, of: 1000, by: member, at: 1)
        #expect(isApplied && tokens[[1]].count == PushTokens.routesPerGroup)
        #expect(tokens[[1]][LeafIndex(rawValue: 1000)]?.isDirect == true)
    }

    @Test func boundsTokensOfGroupAndAccount() throws {
        let member = try PublicKey(bytes: [UInt8](repeating: 1, count: 32))
        let routes = try (1...UInt8(PushTokens.routesPerLeaf)).map { try self.route($0) }
        var tokens = PushTokens()
        func fill(_ groupID: GroupID) -> Int {
            var count = 0
            for leaf in 0..<UInt32(PushTokens.routesPerGroup)
            where self.apply(routes, to: &tokens, of: leaf, by: member, at: 1, in: groupID) {
                count += 1
            }
            return count
        }
        let leaves = PushTokens.routesPerGroup / PushTokens.routesPerLeaf
        for number in 1...UInt8(PushTokens.routesPerAccount / PushTokens.routesPerGroup) {
            let filled = fill([number])
            #expect(filled == leaves)
        }
        let beyond = fill([200])
        #expect(beyond == 0)
        // Withdrawing needs no room, and makes room.
        let isWithdrawn = self.apply([], to: &tokens, of: 0, by: member, at: 2)
        let freed = fill([200])
        #expect(isWithdrawn && freed == 1)
        var step = CoreStep.at(0)
        let isAdded = tokens.add(
            routes[0], relayedFor: LeafIndex(rawValue: 77), of: member, at: 1, in: [200], &step)
        #expect(!isAdded)
    }

    // MARK: Stored forms

    @Test func readsStoredForms() throws {
        let key = String(repeating: "4f", count: 32)
        let token = try self.route(1).token.base64
        let entry =
            #"{"v":1,"member":"\#(key)","routes":[["\#(token)","\#(key)","wss://relay.example"]],"#
            + #""direct":true,"time":7,"registration":2}"#
        let read = try #require(PushEntry(memo: Secret(Array(entry.utf8))))
        #expect(read.routes == [try self.route(1)] && read.isDirect && read.time == 7 && read.registration == 2)
        #expect(PushEntry(memo: read.memo) == read)
        let settings =
            #"{"v":1,"notifies":true,"last":3,"registration":{"server":"\#(key)","#
            + #""relay":"wss://relay.example","platform":2,"token":"0102"}}"#
        let readSettings = try #require(PushSettings(memo: Secret(Array(settings.utf8))))
        #expect(readSettings.notifies && readSettings.registration?.number == 3)
        #expect(readSettings.registration?.device.secret.copyBytes() == [1, 2])
        #expect(PushSettings(memo: readSettings.memo) == readSettings)
        for text in ["", "{}", #"{"v":2}"#, entry.replacing(token, with: "AAAA"), entry.replacing("wss", with: "ftp")] {
            #expect(PushEntry(memo: Secret(Array(text.utf8))) == nil)
        }
        for text in [
            "", "{}", #"{"v":2}"#, settings.replacing("0102", with: ""), settings.replacing(":2,", with: ":3,"),
        ] {
            #expect(PushSettings(memo: Secret(Array(text.utf8))) == nil)
        }
        let name = PushEntry.memoName([1, 2], LeafIndex(rawValue: 0x0102_0304))
        #expect(name.key == [1, 2, 1, 2, 3, 4])
        #expect(PushEntry.place(name)?.leaf.rawValue == 0x0102_0304 && PushEntry.place(name)?.groupID == [1, 2])
        #expect(PushEntry.place(MemoName(.pushRoutes, [0, 0, 0, 1])) == nil)
    }
}
