import Nostr
import Testing

@testable import Marmot

/// Size limits of a Welcome and a commit (docs/protocol/marmot.md §4.3, §10).
struct SizeLimitTests {
    private static func createGroup(
        _ lab: inout Lab, _ invitees: [Invitee], _ limits: SizeLimits
    ) throws -> [DueWelcome] {
        try MarmotGroup.create(
            lab.groups[0].data, founder: lab.keys[0].publicKey, inviting: invitees, client: Lab.client, limits: limits,
            now: lab.now, using: &lab.rng
        ).welcomes
    }

    @Test func giftWrapsAndRelaysBoundGroupSize() throws {
        var lab = try Lab(2)
        let invitees = try (0..<95).map { _ in try lab.newcomer().invitee }
        // Measured; MDK's are about 80 and 58 (docs/protocol/marmot.md §10).
        for (limits, largest) in [(SizeLimits.giftWrap, 81), (.common, 56)] {
            expectError(.tooLarge, "\(largest + 1) members") {
                _ = try Self.createGroup(&lab, Array(invitees.prefix(largest)), limits)
            }
            // A group within the limit can be wrapped, and has the predicted size.
            let welcome = try #require(try Self.createGroup(&lab, Array(invitees.prefix(largest - 1)), limits).last)
            let wrap = try GiftWrap.wrap(
                welcome.rumor, from: lab.keys[0], to: welcome.recipient, now: lab.now, using: &lab.rng)
            let size = wrap.json().count
            #expect(size == GiftWrap.wrapBytes(aroundRumorOf: welcome.rumor.rumorJSON().count))
            #expect(size <= limits.relayEventBytes ?? .max)
            // The error says about how many fit.
            let near = (-2...2).map { "about \(largest + $0) fit" }
            do {
                _ = try Self.createGroup(&lab, invitees, limits)
                Issue.record("expected 95 invitees not to fit")
            } catch let error as MarmotError {
                #expect(error == MarmotError(.tooLarge, "") && near.contains(where: error.message.contains), "\(error)")
                #expect(error.message.contains(limits == .common ? "65536" : "NIP-44"), "\(error)")
            }
        }
        // Without events to send there is no limit.
        #expect(try Self.createGroup(&lab, invitees, .unlimited).count == 95)
    }

    @Test func refusesOversizedWelcomeBeforeCommitting() throws {
        var lab = try Lab(2)
        let invitees = try (0..<70).map { _ in try lab.newcomer().invitee }
        let before = lab.groups[0].contents
        expectError(.tooLarge, "65536") { _ = try lab.commit(.add(invitees), by: 0) }
        #expect(lab.groups[0].contents == before && lab.groups[0].pending == nil)
        try lab.groups[0].commit(
            .add(invitees), client: Lab.client, limits: .giftWrap, now: lab.now, using: &lab.rng)
        lab.groups[0].clearPending()
        try lab.change(.selfUpdate, by: 0)
        try lab.expectAgreement()
    }

    @Test func refusesCommitTooLargeForRelays() throws {
        var lab = try Lab(2)
        let invitees = try (0..<5).map { _ in try lab.newcomer().invitee }
        let before = lab.groups[0].contents
        expectError(.tooLarge, "commit's event") {
            try lab.groups[0].commit(
                .add(invitees), client: Lab.client, limits: SizeLimits(relayEventBytes: 2048, wrapsWelcomes: false),
                now: lab.now, using: &lab.rng)
        }
        #expect(lab.groups[0].contents == before && lab.groups[0].pending == nil)
    }
}
