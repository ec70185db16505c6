import LiveTesting
import Testing

@testable import MLS

/// Late, lost and repeated messages (RFC 9420 §9, §15.3).
struct MessageOrderTests {
    private func send(_ count: Int, from sender: inout MLSGroup, _ rng: inout SplitMix64) throws -> [[UInt8]] {
        try (0..<count).map { try sender.protect(Array("\($0)".utf8), using: &rng) }
    }

    @Test func reportsMessagePositionBeforeDecryption() throws {
        var party = try Party(2)
        let sent = try self.send(3, from: &party.members[0], &party.rng).map { try MLSMessage($0) }
        let epoch = party.members[0].epoch
        let before = party.members[1]
        for (number, message) in sent.enumerated() {
            let place = MessagePlace(
                epoch: epoch, sender: LeafIndex(rawValue: 0), generation: UInt32(number))
            #expect(party.members[1].place(of: message) == place)
            #expect(party.members[0].place(of: message) == place)
        }
        #expect(try party.members[1].process(sent[0], now: nil).text == "0")
        #expect(before.place(of: sent[0]) == party.members[1].place(of: sent[0]))
        try party.commit(by: 0)
        #expect(party.members[1].place(of: sent[2])?.generation == 2, "a kept past epoch must have a place")
        let later = try MLSMessage(party.members[0].protect([1], using: &party.rng))
        #expect(party.members[1].place(of: later)?.generation == 0)
        #expect(before.place(of: later) == nil, "a future epoch must have no place")
        let proposal = try MLSMessage(party.members[0].proposeUpdate(using: &party.rng).message)
        #expect(party.members[1].place(of: proposal) == nil)
        #expect(try Party(2, seed: 2).members[1].place(of: sent[1]) == nil, "another group must have no place")
    }

    @Test func opensMessagesUpTo100GenerationsBack() throws {
        var party = try Party(2)
        let messages = try self.send(102, from: &party.members[0], &party.rng)
        #expect(try party.members[1].process(MLSMessage(messages[101]), now: nil).text == "101")
        for index in (1...100).reversed() {
            #expect(try party.members[1].process(MLSMessage(messages[index]), now: nil).text == "\(index)")
        }
        expectError(.keyConsumed) { _ = try party.members[1].process(MLSMessage(messages[0]), now: nil) }
        #expect(party.members[1].messages.secretTree.ratchets[0]?.application.skipped.isEmpty == true)
    }

    @Test func opensMessagesUpTo1000GenerationsAhead() throws {
        var party = try Party(2)
        let messages = try self.send(1002, from: &party.members[0], &party.rng)
        let start = party.members[1]
        expectError(.generationTooFar) { _ = try party.members[1].process(MLSMessage(messages[1001]), now: nil) }
        #expect(try party.members[1].process(MLSMessage(messages[1000]), now: nil).text == "1000")
        #expect(try party.members[1].process(MLSMessage(messages[1001]), now: nil).text == "1001")
        #expect(party.members[1].messages.secretTree.ratchets[0]?.application.skipped.count == 99)
        var strict = start
        strict.configuration.maximumForwardDistance = 10
        expectError(.generationTooFar) { _ = try strict.process(MLSMessage(messages[11]), now: nil) }
        #expect(try strict.process(MLSMessage(messages[10]), now: nil).text == "10")
    }

    @Test func refusesReplay() throws {
        var party = try Party(3)
        let message = try party.members[0].protect([1], using: &party.rng)
        try party.deliver(message, from: 0)
        for index in [1, 2] {
            expectError(.keyConsumed) { _ = try party.members[index].process(MLSMessage(message), now: nil) }
        }
    }

    @Test func recognisesOwnMessages() throws {
        var party = try Party(2)
        let message = try party.members[0].protect([1], using: &party.rng)
        expectError(.ownMessage) { _ = try party.members[0].process(MLSMessage(message), now: nil) }
        var request = CommitRequest()
        request.wireFormat = .publicMessage
        let commit = try party.members[0].commit(request, using: &party.rng)
        expectError(.ownMessage) { _ = try party.members[0].process(MLSMessage(commit.message), now: nil) }
    }

    @Test func keepsFivePastEpochs() throws {
        var party = try Party(2)
        var messages: [[UInt8]] = []
        for epoch in 0..<7 {
            messages.append(try party.members[0].protect(Array("\(epoch)".utf8), using: &party.rng))
            if epoch < 6 { try party.commit(by: epoch % 2) }
        }
        expectError(.pastEpoch) { _ = try party.members[1].process(MLSMessage(messages[0]), now: nil) }
        for epoch in [6, 1, 3, 5, 2, 4] {
            #expect(try party.members[1].process(MLSMessage(messages[epoch]), now: nil).text == "\(epoch)")
            expectError(.keyConsumed) { _ = try party.members[1].process(MLSMessage(messages[epoch]), now: nil) }
        }
    }

    @Test func futureEpochHasItsOwnCode() throws {
        var party = try Party(2)
        let pending = try party.members[0].commit(.init(), using: &party.rng)
        var ahead = pending.next
        let message = try ahead.protect([1], using: &party.rng)
        expectError(.futureEpoch) { _ = try party.members[1].process(MLSMessage(message), now: nil) }
        let commit = try ahead.commit(.init(), using: &party.rng)
        expectError(.futureEpoch) { _ = try party.members[1].process(MLSMessage(commit.message), now: nil) }
    }

    @Test func lateMessageKeepsItsOriginalSender() throws {
        var party = try Party(4)
        let fromRemoved = try party.members[3].protect(Array("bye".utf8), using: &party.rng)
        let fromRekeyed = try party.members[2].protect(Array("old key".utf8), using: &party.rng)
        let oldLeaf = party.members[2].ownLeaf
        var update = CommitRequest()
        update.signatureKey = try .generate(party.suite, using: &party.rng)
        try party.commit(update, by: 2)
        var remove = CommitRequest()
        remove.removing = [LeafIndex(3)]
        try party.commit(remove, by: 1)
        // Another member has the removed member's leaf by now.
        try party.add(1)
        #expect(try party.members[0].process(MLSMessage(fromRemoved), now: nil).text == "bye")
        guard case .application(let late) = try party.members[0].process(MLSMessage(fromRekeyed), now: nil) else {
            return
        }
        #expect(late.senderLeaf == oldLeaf)
        #expect(late.epoch == 1)
    }

    @Test func keepsNoPastEpochIfConfigured() throws {
        var party = try Party(2, configuration: GroupConfiguration(maximumPastEpochs: 0))
        let late = try party.members[0].protect([1], using: &party.rng)
        try party.commit(by: 0)
        expectError(.pastEpoch) { _ = try party.members[1].process(MLSMessage(late), now: nil) }
        #expect(party.members[1].past.isEmpty)
    }

    @Test func paddingHidesMessageLength() throws {
        var party = try Party(2, configuration: GroupConfiguration(paddingSize: 64))
        let sizes = try (1...50).map {
            let message = try party.members[0].protect(Array(repeating: 65, count: $0), using: &party.rng)
            try party.deliver(message, from: 0)
            return message.count
        }
        #expect(Set(sizes).count == 1)
    }
}

/// A member's own messages, sent by another copy of its state.
struct OwnMessageTests {
    @Test func unsentMessageConsumesItsKey() throws {
        var party = try Party(2)
        var later = party.members[0]
        let messages = try (0..<3).map { _ in try MLSMessage(later.protect([1], using: &party.rng)) }
        #expect(party.members[0].consumeOwnKey(of: messages[1]) == 1)
        #expect(party.members[0].consumeOwnKey(of: messages[1]) == nil)
        let next = try MLSMessage(party.members[0].protect([2], using: &party.rng))
        #expect(party.members[1].place(of: next)?.generation == 2)
        // A message that this state sent itself does not count as another copy's.
        #expect(party.members[0].consumeOwnKey(of: next) == nil)
        let proposal = try MLSMessage(later.propose(.remove(LeafIndex(1)), using: &party.rng).message)
        #expect(party.members[0].consumeOwnKey(of: proposal) == 1)
    }

    @Test func recognisesOwnMessageOfPastEpoch() throws {
        var party = try Party(2)
        var later = party.members[0]
        let message = try MLSMessage(later.protect([1], using: &party.rng))
        var request = CommitRequest()
        request.signatureKey = try .generate(party.suite, using: &party.rng)
        try party.commit(request, by: 0)
        #expect(party.members[0].consumeOwnKey(of: message) == 1)
    }

    @Test func othersCannotForgeOwnMessages() throws {
        var party = try Party(2)
        let victim = party.members[0].ownLeafIndex
        // Member 1 has all secrets of the epoch, and encrypts with the victim's ratchet.
        var forger = party.members[1]
        forger.own = PrivateTree(leafIndex: victim, leafKey: forger.own.leafKey)
        let forged = try MLSMessage(forger.protect([1], using: &party.rng))
        #expect(party.members[0].place(of: forged)?.sender == victim)
        #expect(party.members[0].consumeOwnKey(of: forged) == nil)
        let other = try MLSMessage(party.members[1].protect([1], using: &party.rng))
        #expect(party.members[0].consumeOwnKey(of: other) == nil)
    }
}
