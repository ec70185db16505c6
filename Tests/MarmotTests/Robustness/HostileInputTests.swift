import MLS
import Nostr
import Testing

@testable import Marmot

/// Damaged events, 5,000 in each of six tests here and in ``HostileReaderTests``: each ends in a disposition or an
/// error with a reason, none in a crash, and the group that received them continues unaffected.
struct HostileInputTests {
    static let rounds = 5_000

    /// One message of every kind in a group.
    private func messages(_ lab: inout Lab) throws -> [[UInt8]] {
        var messages = [
            try lab.groups[0].mls.protect(lab.rumor("hi", from: 0).rumorJSON(), using: &lab.rng),
            try lab.groups[3].mls.propose(.selfRemove, wireFormat: .publicMessage, using: &lab.rng).message,
            try lab.groups[3].mls.proposeUpdate(using: &lab.rng).message,
        ]
        let newcomer = try lab.newcomer()
        for wireFormat in [WireFormat.privateMessage, .publicMessage] {
            var request = CommitRequest()
            request.wireFormat = wireFormat
            request.adding = [newcomer.invitee.keyPackage]
            var mls = lab.groups[0].mls
            messages.append(try mls.commit(request, using: &lab.rng).message)
        }
        return messages
    }

    /// Feeds member 2, whose group value is kept throughout; an input that is valid despite its damage is applied to a
    /// copy.
    private func feed(
        _ lab: inout Lab, _ title: String, _ event: (inout Lab, Int) throws -> Event
    ) throws -> Tally {
        var tally = Tally()
        let before = lab.groups[2].contents
        for round in 0..<Self.rounds {
            var group = lab.groups[2]
            let disposition = group.ingest(try event(&lab, round), now: lab.now)
            tally.add(disposition)
            switch disposition {
            case .refused, .waiting: lab.groups[2] = group
            case .message, .commit, .proposal, .ownCommit, .ownEcho, .otherCopy: break
            }
        }
        tally.show(title)
        #expect(tally.total == Self.rounds)
        #expect(lab.groups[2].contents == before)
        try lab.expectAgreement()
        return tally
    }

    @Test func damagedGroupEventsEndInADisposition() throws {
        var lab = try Lab(4, admins: [0, 1])
        try lab.change(.selfUpdate, by: 1)
        let events = try self.messages(&lab).map { try lab.wrap($0, from: 0) }
        var mutator = Mutator(seed: 0x445)
        let tally = try self.feed(&lab, "445, outer layer") { _, round in
            mutator.damage(events[round % events.count])
        }
        for reason in ["waiting/no_key", "refused/bad_time", "refused/bad_content", "refused/bad_tag"] {
            #expect(tally.counts[reason] ?? 0 > 100, "\(reason)")
        }
    }

    @Test func damagedInnerMessagesEndInADisposition() throws {
        var lab = try Lab(4, admins: [0, 1])
        try lab.change(.selfUpdate, by: 1)
        let messages = try self.messages(&lab)
        var mutator = Mutator(seed: 0x445_1)
        let tally = try self.feed(&lab, "445, MLS message") { lab, round in
            try lab.wrap(mutator.damage(messages[round % messages.count]), from: 0)
        }
        for label in ["message", "commit"] { #expect(tally.counts[label] == nil) }
        #expect(tally.counts.keys.allSatisfy { !$0.hasPrefix("proposal") })
        for reason in ["refused/mls", "refused/decryption_failed", "refused/bad_membership_tag"] {
            #expect(tally.counts[reason] ?? 0 > 100, "\(reason)")
        }
    }

    /// A member can put any bytes into a message that MLS accepts as genuine.
    @Test func damagedInnerEventsEndInADisposition() throws {
        var lab = try Lab(2)
        let json = lab.rumor("hello", from: 0, kind: 9).rumorJSON()
        var mutator = Mutator(seed: 9)
        var tally = Tally()
        for _ in 0..<2_000 {
            let event = try lab.say(raw: mutator.damage(json), from: 0)
            tally.add(lab.deliver(event, to: 1))
        }
        tally.show("inner events")
        #expect(tally.total == 2_000 && tally.counts["refused/bad_rumor"] ?? 0 > 1_000)
        try lab.expectAgreement()
    }
}
