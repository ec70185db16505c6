import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct RollbackRecordTests {
    private static let start: Int64 = 1_800_000_000_000
    private var random = SplitMix64(seed: 5)
    private let mallory: PublicKey
    private let oscar: PublicKey

    init() {
        self.mallory = KeyPair.generate(using: &self.random).publicKey
        self.oscar = KeyPair.generate(using: &self.random).publicKey
    }

    @Test func retriesFirstLossAtOnce() {
        var (record, random) = (RollbackRecord(), self.random)
        #expect(!record.noteRollback(by: self.mallory, .member, nowMilliseconds: Self.start, using: &random))
        #expect(record.waitsUntil(nowMilliseconds: Self.start) == nil)
    }

    @Test func delaysDoubleUpToTheMaximum() throws {
        var (record, random) = (RollbackRecord(), self.random)
        var delays: [Int64] = []
        for _ in 0..<16 {
            record.noteLostRace(nowMilliseconds: Self.start, using: &random)
            delays.append((record.waitsUntil(nowMilliseconds: Self.start) ?? Self.start) - Self.start)
        }
        let bounds = [0] + (0..<15).map { min(RollbackRecord.firstDelay << Int64($0), RollbackRecord.maximumDelay) }
        for (delay, bound) in zip(delays, bounds) { #expect((bound / 2...bound).contains(delay)) }
        #expect(Set(delays).count > 10)
    }

    @Test func oldLossesNoLongerCount() {
        var (record, random) = (RollbackRecord(), self.random)
        for _ in 0..<5 { record.noteLostRace(nowMilliseconds: Self.start, using: &random) }
        let later = Self.start + (RollbackRecord.window + 1) * 1000
        record.noteLostRace(nowMilliseconds: later, using: &random)
        #expect(record.waitsUntil(nowMilliseconds: later) == nil)
    }

    @Test func waitEndsAfterClockIsSetBack() throws {
        var (record, random) = (RollbackRecord(), self.random)
        for _ in 0..<5 { record.noteLostRace(nowMilliseconds: Self.start, using: &random) }
        let early = Self.start - 86_400_000
        #expect(try #require(record.waitsUntil(nowMilliseconds: early)) <= early + RollbackRecord.maximumDelay)
    }

    @Test func stormIsReportedOncePerWindow() {
        var (record, random) = (RollbackRecord(), self.random)
        var storms = 0
        for round in 0..<40 {
            let now = Self.start + Int64(round) * 30_000
            if record.noteRollback(by: self.mallory, .removed, nowMilliseconds: now, using: &random) { storms += 1 }
            // No other member is blamed, and this account's commits never are.
            #expect(!record.noteRollback(by: self.oscar, .own, nowMilliseconds: now, using: &random))
        }
        #expect(storms == 1)
        let now = UnixTime(milliseconds: Self.start) + 1200
        #expect(record.reportedStorms(now: now).map(\.committer) == [self.mallory])
        #expect(record.reportedStorms(now: now).first?.count == 40)
        #expect(record.reportedStorms(now: now + RollbackRecord.stormMemory + 1).isEmpty)
    }

    @Test func schedulesOneWakeUpAtATime() {
        var (record, random) = (RollbackRecord(), self.random)
        for _ in 0..<8 { record.noteLostRace(nowMilliseconds: Self.start, using: &random) }
        let end = record.nextWakeUp(nowMilliseconds: Self.start)
        #expect(end != nil && end == record.waitsUntil(nowMilliseconds: Self.start))
        record.noteLostRace(nowMilliseconds: Self.start, using: &random)
        #expect(record.nextWakeUp(nowMilliseconds: Self.start) == nil)
        #expect(record.nextWakeUp(nowMilliseconds: end ?? 0) != nil)
    }

    @Test func memoryStaysBounded() {
        var (record, random) = (RollbackRecord(), self.random)
        var committers: [PublicKey] = []
        for round in 0..<200 {
            committers.append(KeyPair.generate(using: &random).publicKey)
            _ = record.noteRollback(
                by: committers[round], .member, nowMilliseconds: Self.start + Int64(round), using: &random)
        }
        #expect(committers.count { record.tally(of: $0) != nil } == 16)
        #expect(record.stored.count < 16_384)
    }

    @Test func storedFormRoundTripsAndRefusesDamage() throws {
        var (record, random) = (RollbackRecord(), self.random)
        for _ in 0..<12 {
            _ = record.noteRollback(by: self.mallory, .removed, nowMilliseconds: Self.start, using: &random)
        }
        record.noteLostRace(nowMilliseconds: Self.start, using: &random)
        #expect(RollbackRecord(record.stored) == record)
        let text = String(decoding: record.stored.copyBytes(), as: UTF8.self)
        for (part, other) in [(#""count":12"#, #""count":0"#), ("removed", "guest"), (#""quiet""#, #""quit""#)] {
            #expect(text.contains(part))
            #expect(RollbackRecord(Secret(Array(text.replacing(part, with: other).utf8))) == nil)
        }
    }
}
