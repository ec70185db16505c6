import TLSCodec
import Testing

@testable import MLS

/// Requirements of RFC 9420 §6 for framed messages.
struct FramingRefusals {
    private let removal = FramedContent.Body.proposal(.remove(LeafIndex(2)))

    @Test func s6_refusesMessageOfOtherVersion() {
        expectError(.unsupportedVersion) { _ = try MLSMessage([0, 2, 0, 1]) }
        expectError(.malformed) { _ = try MLSMessage([0, 1, 0, 9]) }
        expectError(.malformed) { _ = try MLSMessage([]) }
    }

    @Test func s6_refusesMessageForAnotherGroup() throws {
        var party = try Party(3)
        let foreign = try party.members[0].forgedPublicMessage(self.removal, .init(groupID: [1]))
        expectError(.wrongGroup) { _ = try party.members[1].process(foreign, now: nil) }
        let sealed = try party.members[0].forgedPrivateMessage([1], .init(groupID: [1]))
        expectError(.wrongGroup) { _ = try party.members[1].process(sealed, now: nil) }
    }

    @Test func s6_refusesPublicApplicationMessage() throws {
        var party = try Party(3)
        let open = try party.members[0].forgedPublicMessage(.application([1]))
        expectError(.invalidSender) { _ = try party.members[1].process(open, now: nil) }
    }

    @Test func s6_refusesHandshakesOfOtherEpochs() throws {
        var party = try Party(3)
        let past = try party.members[0].forgedPublicMessage(self.removal, .init(epoch: 0))
        expectError(.pastEpoch) { _ = try party.members[1].process(past, now: nil) }
        let future = try party.members[0].forgedPublicMessage(self.removal, .init(epoch: 9))
        expectError(.futureEpoch) { _ = try party.members[1].process(future, now: nil) }
    }

    @Test(arguments: [Sender.external(0), .newMemberProposal, .newMemberCommit])
    func s6_1_refusesSendersOutsideGroup(_ sender: Sender) throws {
        var party = try Party(3)
        let body =
            sender == .newMemberCommit ? FramedContent.Body.commit(Commit(proposals: [], path: nil)) : self.removal
        let message = try party.members[0].forgedPublicMessage(body, .init(sender: sender))
        expectError(.invalidSender) { _ = try party.members[1].process(message, now: nil) }
        // On the wire such a message has no membership tag.
        let bytes = Array(message.tlsEncoded().dropLast(33))
        expectError(.invalidSender) { _ = try party.members[1].process(MLSMessage(bytes), now: nil) }
    }

    @Test func s6_1_refusesWrongSignature() throws {
        var party = try Party(3)
        let key = try SignaturePrivateKey.generate(party.suite, using: &party.rng)
        let open = try party.members[0].forgedPublicMessage(self.removal, .init(signatureKey: key))
        expectError(.badSignature) { _ = try party.members[1].process(open, now: nil) }
        let sealed = try party.members[0].forgedPrivateMessage([1], .init(signatureKey: key))
        expectError(.badSignature) { _ = try party.members[1].process(sealed, now: nil) }
        // Another member's name under the sender's own signature.
        let borrowed = try party.members[0].forgedPublicMessage(self.removal, .init(sender: .member(LeafIndex(2))))
        expectError(.badSignature) { _ = try party.members[1].process(borrowed, now: nil) }
    }

    @Test func s6_2_refusesWrongMembershipTag() throws {
        var party = try Party(3)
        let message = try party.members[0].forgedPublicMessage(
            self.removal, .init(membershipKey: Secret(repeatElement(1, count: 32))))
        expectError(.badMembershipTag) { _ = try party.members[1].process(message, now: nil) }
        var tampered = try party.members[0].forgedPublicMessage(self.removal).tlsEncoded()
        tampered[tampered.count - 1] ^= 1
        expectError(.badMembershipTag) { _ = try party.members[1].process(MLSMessage(tampered), now: nil) }
    }

    @Test func s6_refusesBlankSenderLeaf() throws {
        var party = try Party(3)
        for index in [3, 4, 0xFFFF_FFFF] as [UInt32] {
            let leaf = LeafIndex(rawValue: index)
            let message = try party.members[0].forgedPublicMessage(self.removal, .init(sender: .member(leaf)))
            expectError(.invalidSender) { _ = try party.members[1].process(message, now: nil) }
            // §6.3.2: the leaf in the sender data must not be blank.
            let sealed = try party.members[0].forgedPrivateMessage([1], leafIndex: leaf)
            expectError(.invalidSender) { _ = try party.members[1].process(sealed, now: nil) }
        }
    }

    @Test func s6_3_1_refusesNonZeroPadding() throws {
        var party = try Party(2)
        let honest = try party.members[0].forgedPrivateMessage([1, 2], padding: [0, 0, 0])
        var reader = party.members[1]
        guard case .application(let message) = try reader.process(honest, now: nil) else { return }
        #expect(message.data == [1, 2])
        let dishonest = try party.members[0].forgedPrivateMessage([1, 2], padding: [0, 1, 0])
        expectError(.malformed) { _ = try party.members[1].process(dishonest, now: nil) }
    }

    @Test func s6_3_refusesTamperedCiphertext() throws {
        var party = try Party(2)
        let message = try party.members[0].protect(Array("text".utf8), using: &party.rng)
        var last = message
        last[last.count - 1] ^= 1
        expectError(.decryptionFailed) { _ = try party.members[1].process(MLSMessage(last), now: nil) }
    }

    @Test func s6_refusesMessagesOutsideGroupFraming() throws {
        var party = try Party(2)
        let package = try party.bundle("somebody").keyPackage
        expectError(.malformed) { _ = try party.members[0].process(.keyPackage(package), now: nil) }
        let pending = try party.add(1)
        expectError(.malformed) {
            _ = try party.members[0].process(MLSMessage(#require(pending.welcome)), now: nil)
        }
    }
}
