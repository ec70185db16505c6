import Nostr
import Testing

@testable import Marmot

/// The disappearing timer of group data version 3, and NIP-40 (docs/protocol/marmot.md §5.9).
struct DisappearingTests {
    private static func rumor(at time: UnixTime, expiration: UnixTime? = nil) throws -> UnsignedEvent {
        UnsignedEvent(
            pubkey: try KeyPair(secretKey: [UInt8](repeating: 1, count: 32)).publicKey, createdAt: time,
            kind: .chatMessage,
            tags: expiration.map { [.expiration(at: $0)] } ?? [], content: "x")
    }

    @Test func writesVersionThreeOnlyWithTimer() throws {
        var lab = try Lab(2)
        var data = lab.groups[0].data
        #expect(data.encoded().prefix(2) == [0, 2])
        data.disappearingSeconds = 3600
        #expect(data.encoded().prefix(2) == [0, 3] && data.encoded().suffix(9) == [8, 0, 0, 0, 0, 0, 0, 14, 16])
        try lab.change(.update(data), by: 0)
        #expect(lab.groups[1].data.disappearingSeconds == 3600)
        data.disappearingSeconds = 0
        expectError(.badGroupData, "timer of 0") { _ = try lab.commit(.update(data), by: 0) }
        data.disappearingSeconds = nil
        try lab.change(.update(data), by: 0)
        #expect(lab.groups[1].data.encoded().prefix(2) == [0, 2] && lab.groups[1].data.disappearingSeconds == nil)
        try lab.expectAgreement()
    }

    @Test func timerExpiresOnlyMessages() throws {
        var lab = try Lab(3)
        #expect(try lab.say("stays", from: 1).expiration == nil)
        var data = lab.groups[0].data
        data.disappearingSeconds = 600
        let change = try lab.commit(.update(data), by: 0)
        #expect(change.expiration == nil)
        lab.groups[0].clearPending()
        try lab.change(.update(data), by: 0)
        let message = try lab.say("goes", from: 1)
        #expect(message.expiration == lab.now + 600)
        #expect(message.tags.map(\.name) == ["h", "encoding", "expiration"])
        #expect(lab.deliver(message, to: 2).message?.rumor.content == "goes")
        #expect(try lab.commit(.selfUpdate, by: 0).expiration == nil)
        #expect(try lab.groups[2].leave(now: lab.now, using: &lab.rng).expiration == nil)
    }

    @Test func earlierExpiryWins() throws {
        var lab = try Lab(2)
        func expiration(_ lab: inout Lab, _ seconds: Int64) throws -> UnixTime? {
            let rumor = lab.rumor("x", from: 0)
            return try lab.groups[0].seal(rumor, expiration: lab.now + seconds, now: lab.now, using: &lab.rng)
                .expiration
        }
        #expect(try expiration(&lab, 5) == lab.now + 5)
        var data = lab.groups[0].data
        data.disappearingSeconds = 600
        try lab.change(.update(data), by: 0)
        #expect(try expiration(&lab, 5) == lab.now + 5)
        #expect(try expiration(&lab, 700) == lab.now + 600)
        #expect(data.expiry(of: try Self.rumor(at: 1000)) == 1600)
        #expect(data.expiry(of: try Self.rumor(at: 1000, expiration: 1100)) == 1100)
        data.disappearingSeconds = nil
        #expect(data.expiry(of: try Self.rumor(at: 1000)) == nil)
        #expect(data.expiry(of: try Self.rumor(at: 1000, expiration: 1100)) == 1100)
    }

    @Test func extremeTimersDoNotOverflow() throws {
        var lab = try Lab(2)
        var data = lab.groups[0].data
        data.disappearingSeconds = .max
        #expect(data.expiry(of: try Self.rumor(at: 1000)) == nil)
        data.disappearingSeconds = UInt64(Int64.max)
        #expect(data.expiry(of: try Self.rumor(at: 1000)) == nil)
        data.disappearingSeconds = 10
        #expect(data.expiry(of: try Self.rumor(at: .distantFuture)) == nil)
        try lab.change(.update(data), by: 0)
        try lab.expectAgreement()
    }
}
