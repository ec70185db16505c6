import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Floods of invitations and calls.
@Suite struct FloodTests {
    private func world(
        _ count: Int, limits: CoreConfiguration.InviteLimits, policy: CoreConfiguration.InvitePolicy = .anyone
    ) throws -> ReducerWorld {
        var world = try ReducerWorld(count)
        let old = world.accounts[1]
        let configuration = CoreConfiguration(
            relays: [ReducerWorld.relay], invites: policy, selfUpdate: .never, inviteLimits: limits)
        world.accounts[1] = ReducerWorld.Account(
            keys: old.keys, configuration: configuration,
            model: try CoreModel(account: old.keys, configuration: configuration, stored: StoredState()))
        for index in 0..<count { world.reduce(index, .started) }
        world.settle()
        return world
    }

    private func invite(_ world: inout ReducerWorld, from index: Int, _ name: String) {
        world.act(index, .createGroupChat(name: name, peers: [world[1].key]), name)
        world.settle()
    }

    private func limited(_ world: ReducerWorld, _ scope: String) -> Int {
        world[1].notes.filter { $0 == .limited(scope: scope) }.count
    }

    @Test func limitsInvitationsPerInviter() throws {
        let limit = RateLimit(2, per: .seconds(3600))
        var world = try world(3, limits: .init(perInviter: limit))
        for number in 0..<5 { invite(&world, from: 0, "flood \(number)") }
        #expect(world[1].model.groups.count == 2)
        #expect(limited(world, "inviter") == 3)
        invite(&world, from: 2, "other")
        #expect(world[1].model.groups.count == 3)
        world.advance(seconds: 1800)
        invite(&world, from: 0, "later")
        #expect(world[1].model.groups.count == 4)
        // Refused invitations are counted but not stored.
        let wraps = Set(world.relayed.filter { $0.kind == .giftWrap }.map(\.id))
        #expect(!world[1].notices.contains { wraps.contains($0.event) && $0.reason != "bad_gift_wrap" })
        #expect(world[1].model.state.invites.isEmpty)
    }

    @Test func limitsInvitationsOfAllStrangersTogether() throws {
        let limits = CoreConfiguration.InviteLimits(
            perInviter: RateLimit(100, per: .seconds(3600)), strangers: RateLimit(2, per: .seconds(3600)))
        var world = try world(5, limits: limits, policy: .nobody)
        for index in [0, 2, 3, 4] { invite(&world, from: index, "from \(index)") }
        #expect(world[1].model.state.invites.count == 2)
        #expect(limited(world, "strangers") == 2)
        // An inviter who shares a group with the account is not a stranger.
        let first = try #require(world[1].model.state.invites.first)
        world.act(1, .acceptInvite(wrapper: first.wrapper), "accept")
        world.settle()
        invite(&world, from: 0, "again")
        #expect(world[1].model.state.invites.count == 2)
        #expect(limited(world, "strangers") == 2)
    }

    @Test func namedInvitersAreNotStrangers() throws {
        var world = try ReducerWorld(3)
        let inviter = world[0].key
        world = try self.world(
            3, limits: .init(strangers: RateLimit(0, per: .seconds(1))), policy: .only([inviter]))
        invite(&world, from: 0, "named")
        invite(&world, from: 2, "stranger")
        #expect(world[1].model.groups.count == 1)
        #expect(limited(world, "strangers") == 1)
    }

    @Test func limitsCallsPerMember() throws {
        var world = try ReducerWorld.group(3)
        world.accounts[1].model.configuration.callLimit = RateLimit(2, per: .seconds(60))
        let before = world[1].delivered.count
        for (sender, number) in [(0, 1), (0, 2), (0, 3), (0, 4), (2, 5)] {
            let session = CallSession(
                moqURL: "https://moq.example/anon", broadcastBase: "pika/calls/\(number)", relayAuth: "no",
                tracks: [.audio])
            let signal = CallSignal(callID: "call-\(number)", timestampMilliseconds: 1, body: .invite(session))
            let groupID = try #require(world[sender].group?.groupID)
            let rumor = UnsignedEvent(
                pubkey: world[sender].key, createdAt: world.time, kind: .callSignal, tags: [],
                content: signal.content)
            var random = world.random
            let now = world.time
            let event = try world.accounts[sender].model.groups[first: groupID]?.seal(
                rumor, now: now, using: &random)
            world.random = random
            world.receive(1, try #require(event))
        }
        // Each call within the limit is rejected, because its token is wrong.
        #expect(limited(world, "calls") == 2)
        #expect(world[1].delivered.count == before)
        #expect(world[1].durable.state.outbox.filter { $0.purpose == .callSignal }.count == 3)
    }
}
