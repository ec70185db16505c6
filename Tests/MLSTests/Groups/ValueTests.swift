import Testing

@testable import MLS

/// A group is a value: changes to a copy, or to the result of a commit, do not affect it.
struct ValueTests {
    @Test func droppedCommitLeavesGroupUsable() throws {
        var party = try Party(3)
        let before = party.members[0].epochAuthenticator
        _ = try party.members[0].commit(.init(), using: &party.rng)
        _ = try party.members[0].commit(.init(), using: &party.rng)
        #expect(party.members[0].epochAuthenticator == before)
        try party.exchangeMessages()
        try party.commit(by: 1)
        try party.commit(by: 0)
        try party.expectAgreement()
    }

    @Test func unappliedStagedCommitChangesNothing() throws {
        var party = try Party(3)
        let first = try party.members[0].commit(.init(), using: &party.rng)
        let second = try party.members[1].commit(.init(), using: &party.rng)
        // Both arrive; the receiver processes each and keeps the second result.
        let one = try party.members[2].process(MLSMessage(first.message), now: nil).staged
        let two = try party.members[2].process(MLSMessage(second.message), now: nil).staged
        #expect(one?.next?.epochAuthenticator == first.next.epochAuthenticator)
        #expect(two?.next?.epochAuthenticator == second.next.epochAuthenticator)
        #expect(party.members[2].epoch.isFollowed(by: second.next.epoch))
        party.members[2] = try #require(two?.next)
        party.members[1] = second.next
        var late = party.members[2]
        expectError(.pastEpoch) { _ = try late.process(MLSMessage(first.message), now: nil) }
    }

    @Test func copiesAreIndependent() throws {
        var party = try Party(2)
        var copy = party.members[0]
        let one = try party.members[0].protect(Array("one".utf8), using: &party.rng)
        let other = try copy.protect(Array("two".utf8), using: &party.rng)
        // Both values used generation 0, independently of each other.
        var reader = party.members[1]
        #expect(try reader.process(MLSMessage(one), now: nil).text == "one")
        expectError(.keyConsumed) { _ = try reader.process(MLSMessage(other), now: nil) }
        reader = party.members[1]
        #expect(try reader.process(MLSMessage(other), now: nil).text == "two")
    }

    @Test func ownKeysAreNeverUsedTwice() throws {
        var party = try Party(2)
        var seen: Set<[UInt8]> = []
        for _ in 0..<20 {
            let ratchet = try party.members[0].messages.secretTree.nextKey(of: LeafIndex(0), .application)
            #expect(seen.insert(ratchet.key.nonce.copyBytes() + ratchet.key.key.copyBytes()).inserted)
            _ = try party.members[0].protect([1], using: &party.rng)
        }
        // A dropped commit has used a handshake key nevertheless.
        let first = try party.members[0].commit(.init(), using: &party.rng)
        let second = try party.members[0].commit(.init(), using: &party.rng)
        #expect(try party.members[1].process(MLSMessage(first.message), now: nil).staged != nil)
        #expect(try party.members[1].process(MLSMessage(second.message), now: nil).staged != nil)
    }

    @Test func refusedMessageDoesNotConsumeItsKey() throws {
        var party = try Party(2)
        let message = try party.members[0].protect(Array("text".utf8), using: &party.rng)
        for position in stride(from: message.count - 60, to: message.count, by: 7) {
            var forged = message
            forged[position] ^= 0x40
            #expect(throws: (any Error).self) { try party.members[1].process(MLSMessage(forged), now: nil) }
        }
        #expect(try party.members[1].process(MLSMessage(message), now: nil).text == "text")
    }

    @Test func errorsNeverShowSecrets() throws {
        var party = try Party(2)
        let message = try party.members[0].protect(Array("text".utf8), using: &party.rng)
        _ = try party.members[1].process(MLSMessage(message), now: nil)
        do {
            _ = try party.members[1].process(MLSMessage(message), now: nil)
        } catch {
            #expect("\(error)" == "key_consumed: the key of generation 0 was already used, or is too old")
        }
    }
}
