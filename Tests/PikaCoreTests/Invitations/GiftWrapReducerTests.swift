import Nostr
import Testing

@testable import PikaCore

/// Refusal of gift wraps that contain no Welcome, or whose layers are forged or by different authors.
@Suite struct GiftWrapReducerTests {
    /// Starts three accounts; account 1 may have its key with a remote signer.
    private func started(isRemote: Bool) throws -> ReducerWorld {
        var world = try ReducerWorld(3, remote: isRemote ? [1] : [])
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        return world
    }

    /// Lets account 0 invite account 1, which does not receive the gift wrap. Returns its rumor.
    private func invite(_ world: inout ReducerWorld) throws -> UnsignedEvent {
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle(offline: [1])
        let wrap = try #require(world.relayed.last { $0.kind == .giftWrap })
        return try GiftWrap.unwrap(wrap, by: world[1].keys).rumor
    }

    /// Seals a rumor with any key, also in the name of another author, and wraps it for account 1.
    private func wrap(
        _ rumor: UnsignedEvent, sealedWith key: KeyPair, inNameOf author: PublicKey? = nil,
        _ world: inout ReducerWorld
    ) throws -> Event {
        let recipient = world[1].key
        let content = try NIP44.encrypt(
            rumor.rumorJSON(), try NIP44.conversationKey(key, recipient), nonce: [UInt8](repeating: 9, count: 32))
        let seal = GiftWrap.seal(
            content, by: author ?? key.publicKey, now: ReducerWorld.start, using: &world.random
        ).signed(by: key, using: &world.random)
        return try GiftWrap.wrap(seal, to: recipient, now: ReducerWorld.start, using: &world.random)
    }

    /// Returns the reasons for which account 1 refused a gift wrap.
    private func refusals(of wrap: Event, _ world: ReducerWorld) -> [String] {
        world[1].notices.filter { $0.event == wrap.id && $0.fate == .refused }.map(\.reason)
    }

    @Test(arguments: [false, true])
    func refusesGiftWrapWithoutWelcome(isRemote: Bool) throws {
        var world = try self.started(isRemote: isRemote)
        let welcome = try self.invite(&world)
        let message = UnsignedEvent(
            pubkey: welcome.pubkey, createdAt: welcome.createdAt, kind: .chatMessage, tags: welcome.tags,
            content: welcome.content)
        let wrap = try self.wrap(message, sealedWith: world[0].keys, &world)
        world.receive(1, wrap)
        world.settle()
        #expect(self.refusals(of: wrap, world) == ["no_welcome"])
        #expect(world[1].model.groups.isEmpty && world[1].model.state.invites.isEmpty)
    }

    @Test(arguments: [false, true])
    func refusesWelcomeSealedByAnother(isRemote: Bool) throws {
        var world = try self.started(isRemote: isRemote)
        let welcome = try self.invite(&world)
        let forged = try self.wrap(welcome, sealedWith: world[2].keys, &world)
        world.receive(1, forged)
        world.settle()
        #expect(self.refusals(of: forged, world) == ["bad_gift_wrap"])
        #expect(world[1].model.groups.isEmpty && world[1].model.state.invites.isEmpty)
        // Sealed by its author, the same Welcome is accepted.
        let genuine = try self.wrap(welcome, sealedWith: world[0].keys, &world)
        world.receive(1, genuine)
        world.settle()
        #expect(self.refusals(of: genuine, world).isEmpty)
        #expect(world[1].model.groups.count == 1)
    }

    @Test func neverDecryptsForgedLayers() throws {
        var world = try self.started(isRemote: true)
        let welcome = try self.invite(&world)
        let wrap = try self.wrap(welcome, sealedWith: world[0].keys, &world)
        let other = try self.wrap(welcome, sealedWith: world[0].keys, &world)
        let forgedWrap = Event(
            id: wrap.id, pubkey: wrap.pubkey, createdAt: wrap.createdAt, kind: wrap.kind, tags: wrap.tags,
            content: wrap.content, signature: other.signature)
        world.receive(1, forgedWrap)
        #expect(world[1].signerRequests.isEmpty)
        #expect(self.refusals(of: forgedWrap, world) == ["bad_gift_wrap"])

        // The signer opens the wrap, but is not asked to open a seal that its stated author did not sign.
        let forgedSeal = try self.wrap(welcome, sealedWith: world[2].keys, inNameOf: world[0].key, &world)
        world.receive(1, forgedSeal)
        let (job, operation) = try #require(world[1].signerRequests.first)
        world.accounts[1].due = []
        world.sign(1, job, operation)
        #expect(world[1].signerRequests.isEmpty)
        #expect(self.refusals(of: forgedSeal, world) == ["bad_gift_wrap"])
        #expect(world[1].model.groups.isEmpty && world[1].model.state.invites.isEmpty)
    }
}
