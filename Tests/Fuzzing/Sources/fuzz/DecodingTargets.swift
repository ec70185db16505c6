import Nostr
import PikaCore
import TLSCodec

@testable import MLS
@testable import Marmot

extension Target {
    /// All MLS structures; decoded values are encoded again byte for byte.
    static func mls(_ world: World) -> Target {
        let package = world.newcomer.keyPackage
        let group = world.groups[0].mls
        var messages: [[UInt8]] = [MLSMessage.keyPackage(package).tlsEncoded()]
        if let welcome = try? WelcomeEvents.read(world.welcome).welcome {
            messages.append(MLSMessage.welcome(welcome).tlsEncoded())
        }
        messages += world.handshakes.map(\.message)
        let commits = world.handshakes.compactMap(\.commit)
        return Target(
            "mls",
            [
                self.roundTrip(MLSMessage.self, messages), self.roundTrip(KeyPackage.self, [package.encoded]),
                self.roundTrip(LeafNode.self, [group.ownLeaf.tlsEncoded(), package.leafNode.tlsEncoded()]),
                self.roundTrip(GroupContext.self, [group.context.tlsEncoded()]),
                self.roundTrip(GroupInfo.self, [(try? group.groupInfo(includesTree: true))?.tlsEncoded() ?? []]),
                self.roundTrip(Commit.self, commits), self.roundTrip(Proposal.self, world.proposals),
                self.roundTrip(Capabilities.self, [package.leafNode.capabilities.tlsEncoded()]),
                self.roundTrip(
                    RequiredCapabilities.self, [RequiredCapabilities(extensions: [1], proposals: [2]).tlsEncoded()]),
                self.roundTrip(
                    AppDataDictionary.self, [AppDataDictionary([.safeAAD: [0], 0x8001: [1, 2]]).tlsEncoded()]),
                self.roundTrip(ComponentsList.self, [ComponentsList([1, 0x8001]).tlsEncoded()]),
                self.roundTrip(SafeAAD.self, [SafeAAD([0x8001: [1]]).tlsEncoded()]),
                Reader([group.encodedRatchetTree]) { bytes in
                    let tree = try RatchetTree(cipherSuite: .x25519AES128GCM, encoded: bytes)
                    precondition(tree.encoded() == bytes, "a ratchet tree must round-trip")
                },
                Reader([package.encoded]) { bytes in
                    _ = try KeyPackage(tlsEncoded: bytes).verified(now: UInt64(world.now.seconds))
                },
            ])
    }

    private static func roundTrip<Value: TLSEncodable & TLSDecodable & SendableMetatype>(
        _ type: Value.Type, _ seeds: [[UInt8]]
    ) -> Reader {
        Reader(seeds) { bytes in
            let value = try Value(tlsEncoded: bytes)
            precondition(value.tlsEncoded() == bytes, "a \(Value.self) must round-trip")
        }
    }

    /// The 0xf2ee extension, alone and in a commit of an admin.
    static func groupData(_ world: World) -> Target {
        let seeds = [world.groups[0].data.encoded()]
        return Target(
            "group-data",
            [
                Reader(seeds) { bytes in
                    let data = try GroupData(encoded: bytes)
                    // Encoding sorts lists and removes duplicates.
                    let written = data.encoded()
                    precondition(
                        (try? GroupData(encoded: written))?.encoded() == written, "group data must round-trip")
                    try data.validateForWriting()
                },
                Reader(seeds) { bytes in
                    var request = CommitRequest()
                    let old = world.groups[0].mls.extensions
                    request.extensions = old.map {
                        $0.type == MarmotProfile.mip.groupDataExtension ? Extension(type: $0.type, data: bytes) : $0
                    }
                    var mls = world.groups[0].mls
                    var rng = RepeatableGenerator(seed: 3)
                    let group = world.deliver(try world.wrap(try mls.commit(request, using: &rng).message))
                    precondition(group.data.admins.contains { group.members.contains($0) }, "an admin must remain")
                },
            ])
    }
}
