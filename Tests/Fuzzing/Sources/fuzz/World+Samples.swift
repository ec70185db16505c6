import Nostr
import PikaCore
import TLSCodec

@testable import MLS
@testable import Marmot

/// Valid messages of every kind, for seeds.
extension World {
    struct Handshake {
        let message: [UInt8]
        /// The Commit inside, if it is one.
        let commit: [UInt8]?
    }

    /// Commits that rename, add and remove, in the clear and encrypted; proposals to leave and to update; a message.
    var handshakes: [Handshake] {
        var rng = RepeatableGenerator(seed: 4)
        var handshakes: [Handshake] = []
        for wireFormat in [WireFormat.publicMessage, .privateMessage] {
            for change in 0..<3 {
                var request = CommitRequest()
                request.wireFormat = wireFormat
                switch change {
                case 0: break
                case 1: request.adding = [try? self.newcomer.keyPackage.verified(now: nil)].compactMap { $0 }
                default: request.removing = [LeafIndex(rawValue: 3)]
                }
                var mls = self.groups[0].mls
                guard let message = try? mls.commit(request, using: &rng).message else { continue }
                handshakes.append(Handshake(message: message, commit: Self.commit(in: message)))
            }
            var mls = self.groups[3].mls
            if let leave = try? mls.propose(.selfRemove, wireFormat: wireFormat, using: &rng).message {
                handshakes.append(Handshake(message: leave, commit: nil))
            }
            if let update = try? mls.proposeUpdate(wireFormat: wireFormat, using: &rng).message {
                handshakes.append(Handshake(message: update, commit: nil))
            }
        }
        var mls = self.groups[0].mls
        if let text = try? mls.protect(self.rumor.rumorJSON(), using: &rng) {
            handshakes.append(Handshake(message: text, commit: nil))
        }
        return handshakes
    }

    private static func commit(in message: [UInt8]) -> [UInt8]? {
        guard case .publicMessage(let message) = try? MLSMessage(message),
            case .commit(let commit) = message.authenticated.content.body
        else { return nil }
        return commit.tlsEncoded()
    }

    var rumor: UnsignedEvent {
        UnsignedEvent(
            pubkey: self.keys[0].publicKey, createdAt: self.now, kind: .chatMessage, tags: [Tag("q", "é")],
            content: "hi \"you\"\n")
    }

    var proposals: [[UInt8]] {
        let update = self.handshakes.compactMap { handshake -> [UInt8]? in
            guard case .publicMessage(let message) = try? MLSMessage(handshake.message),
                case .proposal(let proposal) = message.authenticated.content.body
            else { return nil }
            return proposal.tlsEncoded()
        }
        let others: [Proposal] = [
            .add(self.newcomer.keyPackage), .remove(LeafIndex(rawValue: 3)), .selfRemove,
            .groupContextExtensions(self.groups[0].mls.extensions),
            .appDataUpdate(AppDataUpdate(0x8001, .update([1]))), .appDataUpdate(AppDataUpdate(0x8001, .remove)),
            .appEphemeral(ComponentData(0x8001, [1])),
        ]
        return update + others.map { $0.tlsEncoded() }
    }
}
