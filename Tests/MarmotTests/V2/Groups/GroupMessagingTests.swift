import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct GroupMessagingTests {
    @Test func messageHasTimeOfInnerEvent() throws {
        var lab = try ComponentLab(3, retention: 60)
        let sealed = try lab.say("hello", from: 1)
        #expect(sealed.event.createdAt == lab.now && sealed.epoch == 1)
        #expect(
            sealed.event.tags.map(\.values) == [
                ["h", lab.groups[0].nostrGroupID.hex], ["expiration", "\(lab.now + 60)"],
            ])
        let message = try lab.open(sealed.event, at: 0)
        #expect(message.digest == sealed.digest && message.content == .application && message.epoch == 1)
        let read = try lab.groups[0].receive(message)
        #expect(try read.payload.get() == sealed.payload)
        #expect(read.sender == lab.keys[1].publicKey && read.leaf == LeafIndex(rawValue: 1) && !read.isAdmin)
        #expect(read.expiresAt == lab.now + 60 && read.digest == sealed.digest)
    }

    @Test func readingConsumesNothing() throws {
        var lab = try ComponentLab(2)
        let sealed = try lab.say("hello", from: 0)
        let message = try lab.open(sealed.event, at: 1)
        #expect(try lab.groups[1].reading(message).sender == lab.keys[0].publicKey)
        #expect(try lab.groups[1].reading(message).digest == message.digest)
        _ = try lab.groups[1].receive(message)
        #expect(throws: MLSError(.keyConsumed, "")) { _ = try lab.groups[1].receive(message) }
    }

    @Test func keysConsumedElsewhereStayConsumed() throws {
        var lab = try ComponentLab(2)
        let kept = lab.groups[1]
        let sealed = try lab.say("hello", from: 0)
        let message = try lab.open(sealed.event, at: 1)
        _ = try lab.groups[1].receive(message)
        let restored = kept.withoutKeys(consumedBy: lab.groups[1])
        #expect(throws: MLSError(.keyConsumed, "")) { _ = try restored.reading(message) }
        #expect(try kept.reading(message).sender == lab.keys[0].publicKey)
    }

    @Test func invalidPayloadStillWitnesses() throws {
        var lab = try ComponentLab(2)
        let payloads: [([UInt8], MarmotError.Code)] = [
            (Array("not JSON".utf8), .badRumor), (Array(#"{"id":"00"}"#.utf8), .badRumor),
            (AppPayload(lab.rumor("of another", from: 0)).encoded, .identityMismatch),
        ]
        for (payload, code) in payloads {
            let bytes = try lab.groups[1].mls.protect(payload, using: &lab.rng)
            let read = try lab.groups[0].receive(lab.message(bytes))
            #expect(read.sender == lab.keys[1].publicKey && read.expiresAt == nil)
            expectError(code) { _ = try read.payload.get() }
        }
    }

    @Test func refusesEventsOfOthers() throws {
        var lab = try ComponentLab(2)
        expectError(.identityMismatch) {
            _ = try lab.groups[0].seal(lab.rumor("of another", from: 1), using: &lab.rng)
        }
        let long = UnsignedEvent(
            pubkey: lab.keys[0].publicKey, createdAt: lab.now, kind: .chatMessage,
            content: String(repeating: "a", count: AppPayload.maximumBytes))
        expectError(.tooLarge) { _ = try lab.groups[0].seal(long, using: &lab.rng) }
    }

    // MARK: Epochs

    @Test func pastEpochsAreReadable() throws {
        var lab = try ComponentLab(3)
        var sealed: [SealedMessage] = []
        for _ in 0..<7 {
            sealed.append(try lab.say("of epoch \(lab.groups[1].epoch)", from: 1))
            try lab.commit(.retention(seconds: UInt64(lab.now.seconds) - lab.groups[0].epoch.rawValue), by: 0)
        }
        #expect(lab.groups[0].epoch == 8)
        let group = lab.groups[0]
        for message in sealed.prefix(2) {
            #expect(try ComponentGroup.open(message.event, over: [group]) == nil)
        }
        for message in sealed.dropFirst(2) {
            let opened = try lab.open(message.event, at: 0)
            let read = try lab.groups[0].receive(opened)
            #expect(read.epoch == message.epoch)
            #expect(try read.payload.get().event.content == "of epoch \(message.epoch)")
        }
    }

    @Test func factsOfPastEpochsAreKept() throws {
        var lab = try ComponentLab(3, retention: 60)
        let secret = lab.groups[1].mediaSecret(of: 1)
        let sealed = try lab.say("hello", from: 0)
        try lab.commit(.retention(seconds: 0), by: 0)
        try lab.commit(.admins(AdminPolicy([lab.keys[1].publicKey])), by: 0)
        #expect(lab.groups[1].mediaSecret(of: 1) == secret && lab.groups[1].mediaSecret(of: 9) == nil)
        #expect(lab.groups[1].mediaSecret(of: 3) != secret)
        #expect(lab.groups[1].wasAdmin(lab.keys[0].publicKey, in: 1) == true)
        #expect(lab.groups[1].wasAdmin(lab.keys[0].publicKey, in: 3) == false)
        #expect(lab.groups[1].wasAdmin(lab.keys[0].publicKey, in: 0) == nil)
        let read = try lab.read(sealed.event, at: 1)
        #expect(read.isAdmin && read.expiresAt == lab.now + 60)
    }

    @Test func messageOfRemovedSenderIsValid() throws {
        var lab = try ComponentLab(3)
        let sealed = try lab.say("late", from: 2)
        try lab.commit(.remove([lab.keys[2].publicKey]), by: 0)
        #expect(try lab.read(sealed.event, at: 1).sender == lab.keys[2].publicKey)
    }

    @Test func newMemberReadsNothingEarlier() throws {
        var lab = try ComponentLab(2)
        let early = try lab.say("early", from: 1)
        try lab.add(try lab.newcomer(), by: 0)
        #expect(try ComponentGroup.open(early.event, over: [lab.groups[2]]) == nil)
    }

    // MARK: Outer layer

    @Test func opensOverSeveralValues() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        let ours = try lab.stage(.profile(GroupProfileState(name: "A")), by: 0)
        let theirs = try lab.stage(.profile(GroupProfileState(name: "B")), by: 1)
        let base = lab.groups[2]
        lab.groups[0] = ours.next
        lab.groups[1] = theirs.next
        let message = try lab.say("on the other branch", from: 1)
        #expect(try ComponentGroup.open(message.event, over: [ours.next]) == nil)
        let other = try #require(try base.judging(lab.open(theirs.event, at: 2), now: nil).next)
        let opened = try #require(try ComponentGroup.open(message.event, over: [ours.next, other]))
        #expect(try other.reading(opened).sender == lab.keys[1].publicKey)
        #expect(throws: MLSError.self) { _ = try ours.next.reading(opened) }
    }

    @Test func commitOfOtherBranchIsNotApplicable() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        let ours = try lab.stage(.profile(GroupProfileState(name: "A")), by: 0)
        let theirs = try lab.stage(.profile(GroupProfileState(name: "B")), by: 1)
        lab.groups[1] = theirs.next
        let second = try lab.stage(.profile(GroupProfileState(name: "C")), by: 1)
        let commit = try lab.message(second.message)
        for group in [ours.next, lab.groups[2]] {
            do {
                _ = try group.judging(commit, now: nil)
                Issue.record("expected a refusal")
            } catch HandshakeRefusal.notApplicable {}
        }
    }

    @Test func refusesMalformedMessages() throws {
        var lab = try ComponentLab(2)
        let sealed = try lab.say("hello", from: 1)
        let group = lab.groups[0]
        func wrap(_ bytes: [UInt8]) throws -> Event {
            try GroupEnvelope.seal(
                bytes, as: .handshake(now: lab.now), key: group.outerKey, nostrGroupID: group.nostrGroupID,
                using: &lab.rng)
        }
        let bytes = try lab.open(sealed.event, at: 0).bytes
        let trailing = try wrap(bytes + [0])
        expectError(.mls) { _ = try ComponentGroup.open(trailing, over: [group]) }
        var other = bytes
        other[5] ^= 1
        let foreign = try wrap(other)
        expectError(.badContent, "group id") { _ = try ComponentGroup.open(foreign, over: [group]) }
        let package = try wrap(MLSMessage.keyPackage(try lab.newcomer().bundle.keyPackage).tlsEncoded())
        expectError(.badContent) { _ = try ComponentGroup.open(package, over: [group]) }
        let elsewhere = try GroupEnvelope.seal(
            bytes, as: .handshake(now: lab.now), key: group.outerKey,
            nostrGroupID: ComponentLab.routing(0x77).nostrGroupID, using: &lab.rng)
        expectError(.badTag) { _ = try ComponentGroup.open(elsewhere, over: [group]) }
        #expect(try ComponentGroup.open(sealed.event, over: [ComponentGroup]()) == nil)
    }
}
