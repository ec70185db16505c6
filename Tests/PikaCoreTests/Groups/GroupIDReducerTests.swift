import MLS
import Nostr
import Testing

@testable import Marmot
@testable import PikaCore

/// An MLS group id is unique among an account's groups (RFC 9420 §12.4.3), although its inviter chooses it.
@Suite struct GroupIDReducerTests {
    @Test func foreignGroupCannotReplaceKnownGroup() throws {
        var world = try ReducerWorld.group(2)
        let known = try #require(world[1].group)
        let keyPackage = try #require(world.relayed.first { $0.kind == .keyPackage && $0.pubkey == world[1].key })
        let invitee = try Invitee(keyPackage, now: ReducerWorld.start)
        let stranger = KeyPair.generate(using: &world.random)
        let suite = CipherSuite.x25519AES128GCM
        let capabilities = invitee.keyPackage.leafNode.capabilities
        let founder = try KeyPackageBundle.generate(
            suite, credential: stranger.publicKey.credential, capabilities: capabilities,
            lifetime: Lifetime(notBefore: 0, notAfter: .max), signatureKey: .generate(suite, using: &world.random),
            using: &world.random)
        let data = GroupData(
            nostrGroupID: try #require(Bytes32([UInt8](repeating: 9, count: 32))), name: "Theirs", description: "",
            admins: [stranger.publicKey], relays: [ReducerWorld.relay])
        let extensions = known.mls.extensions.map { entry in
            entry.type == MarmotProfile.mip.groupDataExtension
                ? Extension(type: entry.type, data: data.encoded()) : entry
        }
        for groupID in [known.groupID, GroupID([UInt8](repeating: 9, count: 16))] {
            var group = try MLSGroup.create(
                groupID: groupID, member: founder, extensions: extensions, using: &world.random)
            var request = CommitRequest()
            request.adding = [invitee.keyPackage]
            let welcome = try #require(try group.commit(request, using: &world.random).welcome)
            let rumor = WelcomeEvents.rumor(
                welcome, keyPackageEvent: keyPackage.id, relays: [ReducerWorld.relay], client: "test",
                from: stranger.publicKey, now: ReducerWorld.start)
            world.receive(
                1,
                try GiftWrap.wrap(
                    rumor, from: stranger, to: world[1].key, now: ReducerWorld.start, using: &world.random))
        }
        // The second group, with an unused id, shows that the invitation itself is valid.
        #expect(world[1].model.groups.count == 2)
        #expect(world[1].model.groups[known.groupID]?.data.name == "Lab")
        world.say(0, "still ours")
        world.settle()
        #expect(world[1].texts == ["still ours"])
    }
}
