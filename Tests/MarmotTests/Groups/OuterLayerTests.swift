import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

/// Requirements of a kind 445 event that are checked before MLS (MIP-03, docs/protocol/marmot.md §5.1, §5.2).
struct OuterLayerTests {
    private func expect(
        _ label: String, _ event: Event, _ lab: inout Lab, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let before = lab.groups[1].contents
        #expect(lab.deliver(event, to: 1).label == label, sourceLocation: sourceLocation)
        #expect(lab.groups[1].contents == before, sourceLocation: sourceLocation)
    }

    @Test func refusesAnotherKind() throws {
        var lab = try Lab(2)
        let event = try lab.say("x", from: 0)
        let other = Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: 444, tags: event.tags,
            content: event.content, signature: event.signature)
        self.expect("refused/wrong_kind", other, &lab)
    }

    @Test func requiresOneHTagOf64Digits() throws {
        var lab = try Lab(2)
        let event = try lab.say("x", from: 0)
        let id = String(repeating: "11", count: 32)
        let wrong = [
            [], [["h"]], [["h", ""]], [["h", id], ["h", id]], [["h", String(id.dropLast())]], [["h", id + "1"]],
            [["h", String(repeating: "zz", count: 32)]], [["H", id]], [["h", Lab.groupID(0x12).hex]],
        ]
        for tags in wrong {
            let changed = lab.rewrap(event, tags: tags.map { Tag(values: $0) } + [Tag("encoding", "base64")])
            self.expect("refused/bad_tag", changed, &lab)
        }
        let more = lab.rewrap(event, tags: [Tag("expiration", "1"), Tag("h", id, "wss://hint.example"), Tag("x", "y")])
        #expect(lab.deliver(more, to: 1).label == "message")
    }

    @Test func requiresBase64OfAtLeast28Bytes() throws {
        var lab = try Lab(2)
        let event = try lab.say("x", from: 0)
        for content in ["", "AAA", event.content + " ", event.content + "====", "not base64!", Hex.encode([1, 2, 3])] {
            self.expect("refused/bad_content", lab.rewrap(event, content: content), &lab)
        }
        let short = Base64.encode([UInt8](repeating: 0, count: 27))
        self.expect("refused/bad_content", lab.rewrap(event, content: short), &lab)
        let enough = Base64.encode([UInt8](repeating: 0, count: 28))
        self.expect("waiting/no_key", lab.rewrap(event, content: enough), &lab)
    }

    @Test func refusesEventsOutsideTheTimeWindow() throws {
        var lab = try Lab(2)
        let event = try lab.say("x", from: 0)
        for offset: Int64 in [301, 1_000_000, UnixTime.distantFuture.seconds(since: lab.now)] {
            self.expect("waiting/future_time", lab.rewrap(event, at: lab.now + offset), &lab)
        }
        for offset: Int64 in [3_888_001, lab.now.seconds] {
            self.expect("refused/bad_time", lab.rewrap(event, at: lab.now - offset), &lab)
        }
        #expect(lab.deliver(lab.rewrap(event, at: lab.now + 300), to: 1).label == "message")
        let old = try lab.say("y", from: 0)
        #expect(lab.deliver(lab.rewrap(old, at: lab.now - 3_888_000), to: 1).label == "message")
    }

    @Test func ciphertextWithoutKeyWaits() throws {
        var lab = try Lab(2)
        let event = try lab.say("x", from: 0)
        var bytes = try #require(Base64.decode(event.content))
        bytes[20] ^= 1
        self.expect("waiting/no_key", lab.rewrap(event, content: Base64.encode(bytes)), &lab)
    }

    @Test func refusesForeignOrTrailingInnerBytes() throws {
        var lab = try Lab(2)
        var other = try Lab(2, seed: 2)
        let event = try other.say("x", from: 0)
        let message = try other.groups[0].mls.protect([], using: &lab.rng)
        self.expect("waiting/no_key", lab.rewrap(event), &lab)
        self.expect("refused/wrong_group", try lab.wrap(message, from: 0), &lab)
        self.expect("refused/mls", try lab.wrap([], from: 0), &lab)
        self.expect("refused/mls", try lab.wrap([0, 2] + message.dropFirst(2), from: 0), &lab)
        let own = try lab.groups[0].mls.protect([], using: &lab.rng)
        self.expect("refused/mls", try lab.wrap(own + [0], from: 0), &lab)
        let package = try lab.newcomer().bundle.keyPackage
        self.expect("refused/malformed", try lab.wrap(MLSMessage.keyPackage(package).bytes, from: 0), &lab)
    }

    @Test func acceptsFormerGroupIDAfterRotation() throws {
        var lab = try Lab(2)
        let late = try lab.say("late", from: 0)
        var data = lab.groups[0].data
        data.nostrGroupID = Lab.groupID(0x33)
        let rotation = try lab.commit(.update(data), by: 0)
        #expect(rotation.firstTag("h")?.value == Lab.groupID(0x11).hex)
        _ = try lab.groups[0].mergePending()
        #expect(lab.deliver(rotation, to: 1).label == "commit")
        #expect(lab.groups[1].formerNostrGroupIDs == [Lab.groupID(0x11)])
        #expect(lab.deliver(late, to: 1).label == "message")
        let new = try lab.say("new", from: 0)
        #expect(new.firstTag("h")?.value == Lab.groupID(0x33).hex)
        #expect(lab.deliver(new, to: 1).label == "message")
    }

    @Test func formerGroupIDsAreBoundedAndUnique() throws {
        var lab = try Lab(2)
        for byte: UInt8 in [1, 2, 1, 2, 3, 4, 5, 6, 7, 1] {
            var data = lab.groups[0].data
            data.nostrGroupID = Lab.groupID(byte)
            try lab.change(.update(data), by: 0)
        }
        for group in lab.groups {
            #expect(group.data.nostrGroupID == Lab.groupID(1))
            #expect(group.formerNostrGroupIDs == [3, 4, 5, 6, 7].map(Lab.groupID))
        }
    }

    @Test func opensMessagesOfFivePastEpochs() throws {
        var lab = try Lab(3)
        var events: [Event] = []
        for epoch in 1...7 {
            events.append(try lab.say("epoch \(epoch)", from: 2))
            if epoch < 7 { try lab.change(.selfUpdate, by: 0) }
        }
        #expect(lab.groups[1].epoch == 7 && lab.groups[1].outerKeys.count == 6)
        for epoch in 2...7 {
            #expect(lab.deliver(events[epoch - 1], to: 1).message?.epoch == Epoch(rawValue: UInt64(epoch)))
        }
        self.expect("waiting/no_key", events[0], &lab)
    }
}

extension MLSMessage {
    fileprivate var bytes: [UInt8] { self.tlsEncoded() }
}
