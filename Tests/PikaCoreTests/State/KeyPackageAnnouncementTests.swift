import LiveTesting
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct KeyPackageAnnouncementTests {
    private let first: RelayURL
    private let second: RelayURL
    private let legacy: Event
    private let addressable: Event
    private let list: Event
    private var announcement = KeyPackageAnnouncement()

    init() throws {
        var random = SplitMix64(seed: 3)
        let keys = KeyPair.generate(using: &random)
        self.first = try RelayURL("wss://first.example")
        self.second = try RelayURL("wss://second.example")
        func event(_ kind: Kind) -> Event {
            var random = SplitMix64(seed: UInt64(kind.rawValue))
            return UnsignedEvent(
                pubkey: keys.publicKey, createdAt: 1_800_000_000, kind: kind, tags: [], content: "x"
            ).signed(by: keys, using: &random)
        }
        self.legacy = event(.keyPackage)
        self.addressable = event(.addressableKeyPackage)
        self.list = event(.inboxRelays)
        self.announcement.begin()
        self.announcement.expect(self.addressable, from: [self.first, self.second])
        self.announcement.expect(self.legacy, from: [self.first, self.second])
    }

    private mutating func note(_ event: Event, _ relay: RelayURL, _ outcome: PublishReport.Outcome) {
        self.announcement.note(PublishReport(relay: relay, outcome: outcome), of: event)
    }

    @Test func beginsWithoutAnswers() {
        #expect(self.announcement.number == 1 && self.announcement.event == self.legacy.id)
        #expect(self.announcement.keyPackage.map(\.relay) == [self.first, self.second])
        #expect(self.announcement.keyPackage.allSatisfy { $0.answer == .pending })
        #expect(!self.announcement.isStored && !self.announcement.isAnswered && !self.announcement.isRefused)
        #expect(self.announcement.relayLists.isEmpty)
        let none = KeyPackageAnnouncement()
        #expect(none.event == nil && !none.isStored && !none.isAnswered && !none.isRefused)
    }

    @Test mutating func oneRelayIsEnough() {
        self.note(self.legacy, self.first, .accepted)
        #expect(self.announcement.isStored && !self.announcement.isAnswered)
        self.note(self.addressable, self.first, .accepted)
        self.note(self.legacy, self.second, .unreachable("no connection"))
        self.note(self.addressable, self.second, .unreachable("no connection"))
        #expect(self.announcement.isAnswered && !self.announcement.isRefused)
        #expect(self.announcement.keyPackage.map(\.answer) == [.stored, .unreachable("no connection")])
    }

    /// Returns a key package event of the second generation.
    private func secondGeneration() -> Event {
        var random = SplitMix64(seed: 4)
        let keys = KeyPair.generate(using: &random)
        return UnsignedEvent(
            pubkey: keys.publicKey, createdAt: 1_800_000_000, kind: .addressableKeyPackage, tags: [],
            content: Base64.encode([0, 1, 0, 5, 0, 1, 0, 1])
        ).signed(by: keys, using: &random)
    }

    @Test mutating func storingRelayAnswersEveryEvent() {
        #expect(!self.announcement.isStoredAndAnswered)
        self.note(self.legacy, self.first, .accepted)
        #expect(!self.announcement.isStoredAndAnswered)
        // The relay without an answer does not count.
        self.note(self.addressable, self.first, .refused("blocked: kind"))
        // The key package of the second generation is not signed yet.
        #expect(!self.announcement.isStoredAndAnswered)
        let second = self.secondGeneration()
        self.announcement.expect(second, from: [self.first, self.second])
        #expect(!self.announcement.isStoredAndAnswered)
        self.note(second, self.first, .accepted)
        #expect(self.announcement.isStoredAndAnswered && !self.announcement.isAnswered)
    }

    @Test mutating func generationsDoNotReplaceEachOther() {
        let second = self.secondGeneration()
        self.announcement.expect(second, from: [self.first])
        #expect(self.announcement.event == self.legacy.id && !self.announcement.isSecondStored)
        self.note(second, self.first, .accepted)
        #expect(self.announcement.isSecondStored && !self.announcement.isStored)
        self.note(self.addressable, self.first, .refused("blocked: no"))
        self.note(self.legacy, self.first, .accepted)
        #expect(self.announcement.keyPackage.first?.answer == .refused("kind 30443: blocked: no"))
        // A new package of one generation keeps the answers to the other's.
        self.announcement.begin(.v2)
        #expect(self.announcement.number == 2 && self.announcement.isStored && !self.announcement.isSecondStored)
        self.announcement.begin()
        #expect(self.announcement.event == nil)
    }

    @Test mutating func kind30443AloneIsNotStored() {
        for relay in [self.first, self.second] {
            self.note(self.addressable, relay, .accepted)
            self.note(self.legacy, relay, .refused("blocked: kind"))
        }
        #expect(!self.announcement.isStored && self.announcement.isRefused && self.announcement.isAnswered)
        #expect(self.announcement.keyPackage.allSatisfy { $0.answer == .refused("kind 443: blocked: kind") })
        #expect(
            self.announcement.failure
                == "every relay refused the key package; wss://first.example: refused (kind 443: blocked: kind); "
                + "wss://second.example: refused (kind 443: blocked: kind)")
    }

    @Test mutating func temporaryRefusalsAreNotFinal() {
        for relay in [self.first, self.second] {
            for event in [self.legacy, self.addressable] {
                self.note(event, relay, .refused("rate-limited: slow down"))
            }
        }
        #expect(self.announcement.isAnswered && !self.announcement.isRefused)
        #expect(self.announcement.failure.contains("it stays queued; wss://first.example: refused (rate-limited: slow"))
        self.note(self.legacy, self.first, .accepted)
        #expect(self.announcement.isStored)
    }

    @Test mutating func keyPackageStaysStored() {
        self.note(self.legacy, self.first, .accepted)
        self.note(self.legacy, self.first, .refused("invalid: again"))
        self.announcement.noteSilence(of: [self.first, self.second], about: self.legacy)
        self.note(self.addressable, self.first, .accepted)
        #expect(self.announcement.keyPackage.map(\.answer) == [.stored, .unreachable("no answer")])
    }

    @Test mutating func ignoresAnswersToReplacedEvents() {
        var other = self.announcement
        other.begin()
        #expect(other.number == 2 && other.event == nil)
        other.expect(self.list, from: [self.first])
        other.note(PublishReport(relay: self.first, outcome: .accepted), of: self.legacy)
        #expect(other.keyPackage.isEmpty && other.relayLists.map(\.answer) == [.pending] && !other.isAnswered)
    }

    @Test mutating func keepsAnswersOfAttemptUnderWay() {
        self.note(self.legacy, self.first, .refused("blocked: no"))
        var again = self.announcement
        again.expect(self.legacy, from: [self.first, self.second], isUnderWay: true)
        #expect(again == self.announcement)
        again.expect(self.legacy, from: [self.first, self.second])
        #expect(again.keyPackage.map(\.answer) == [.pending, .pending])
    }

    @Test mutating func explainsMissingAnswers() {
        self.note(self.legacy, self.first, .accepted)
        self.note(self.addressable, self.first, .accepted)
        let relays = [self.first, self.second].map {
            AppState.RelayStatus(url: $0, connection: .retrying(attempt: 2, reason: "refused"), isCaughtUp: false)
        }
        let explained = self.announcement.explained(by: relays)
        #expect(explained.keyPackage.map(\.answer) == [.stored, .unreachable("refused")])
        let connected = [AppState.RelayStatus(url: self.second, connection: .connected, isCaughtUp: true)]
        #expect(self.announcement.explained(by: connected) == self.announcement)
    }

    @Test mutating func ignoresRelaysThatWereNotAsked() throws {
        self.note(self.legacy, try RelayURL("wss://third.example"), .accepted)
        #expect(!self.announcement.isStored && self.announcement.keyPackage.count == 2)
    }
}
