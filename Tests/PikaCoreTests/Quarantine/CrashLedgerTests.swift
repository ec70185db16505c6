import MLS
import Nostr
import Synchronization
import Testing

@testable import PikaCore

/// Notes shared by several processes.
private final class Notes: CrashNotes {
    private let state = Mutex<(inFlight: [UInt8]?, quarantine: [UInt8]?, writes: Int)>((nil, nil, 0))

    var writes: Int { state.withLock { $0.writes } }
    var inFlight: String { String(decoding: readInFlight() ?? [], as: UTF8.self) }

    func readInFlight() -> [UInt8]? { state.withLock { $0.inFlight } }
    func readQuarantine() -> [UInt8]? { state.withLock { $0.quarantine } }

    func writeInFlight(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            state.inFlight = bytes
            state.writes += 1
        }
        return true
    }

    func writeQuarantine(_ bytes: [UInt8]) -> Bool {
        state.withLock { $0.quarantine = bytes }
        return true
    }
}

@Suite struct CrashLedgerTests {
    private let notes = Notes()
    private let a = CrashSubject(.event, "aa")
    private let b = CrashSubject(.event, "bb")
    private let group = CrashSubject.group(GroupID([7]))
    private let relay: RelayURL

    init() throws { self.relay = try RelayURL("wss://relay.example") }

    /// Starts a process; the previous one has crashed with its work in flight.
    private func process() -> CrashLedger { CrashLedger(self.notes, now: 5) }

    @Test func quarantinesAfterSecondDeath() {
        _ = self.process().enter(self.a, of: self.group, .ingest)
        let second = self.process()
        #expect(second.quarantine.isEmpty && !second.holds(self.a))
        _ = second.enter(self.a, of: self.group, .ingest)
        let third = self.process()
        #expect(third.holds(self.a) && !third.holds(self.group) && !third.holds(self.b))
        let entry = third.quarantine.first
        #expect(entry?.subject == self.a && entry?.scope == self.group && entry?.stage == .ingest)
        #expect(entry?.deaths == 2 && entry?.since == 5)
        #expect(self.process().quarantine == third.quarantine, "the quarantine must be durable")
    }

    @Test func finishedWorkIsNotBlamed() {
        for _ in 0..<5 {
            let process = self.process()
            process.leave(process.enter(self.a, .ingest))
        }
        #expect(self.process().quarantine.isEmpty && self.notes.inFlight.isEmpty)
    }

    @Test func successClearsSuspect() {
        _ = self.process().enter(self.a, .ingest)
        let second = self.process()
        second.leave(second.enter(self.a, .ingest))
        _ = second.enter(self.a, .ingest)
        #expect(self.process().quarantine.isEmpty)
    }

    @Test func blamesTheInnermostWork() {
        for _ in 0..<2 {
            let process = self.process()
            let outer = process.enter(self.a, .ingest)
            process.leave(process.enter(self.group, .ingest))
            _ = process.enter(self.b, .ingest)
            _ = outer
        }
        #expect(self.process().quarantine.map(\.subject) == [self.b])
    }

    @Test func suspendedWorkKeepsItsDeaths() {
        for _ in 0..<2 {
            let process = self.process()
            _ = process.enter(self.a, .ingest)
            process.leave(process.enter(self.b, .ingest))
        }
        #expect(self.process().quarantine.map(\.subject) == [self.a])
    }

    @Test func orderlyExitBlamesNoSubject() {
        for _ in 0..<4 {
            let process = self.process()
            _ = process.enter(self.a, .ingest)
            process.close()
            _ = process.enter(self.b, .ingest)
        }
        #expect(self.process().quarantine.isEmpty)
    }

    @Test func costsTwoWritesAnEvent() {
        let process = self.process()
        let before = self.notes.writes
        for number in 0..<100 {
            let subject = CrashSubject(.event, "\(number)")
            let outer = process.enter(subject, of: self.group, .ingest)
            let inner = process.enter(subject, of: self.group, .ingest)
            process.reach(.reduce)
            process.leave(inner)
            process.leave(outer)
        }
        #expect(self.notes.writes == before + 200)
    }

    // MARK: Scopes

    @Test func twoDeadlyEventsQuarantineTheirGroup() {
        for event in [self.a, self.a, self.b, self.b] { _ = self.process().enter(event, of: self.group, .ingest) }
        let last = self.process()
        #expect([self.a, self.b, self.group].allSatisfy(last.holds))
        #expect(last.quarantine.last?.deaths == 4)
    }

    // MARK: Passes

    @Test func thirdDeathLocatesFailingPart() {
        var visited: [Int] = []
        // First the whole pass is to blame, then twice the same part.
        _ = self.process().beginPass(.read)
        for _ in 0..<2 {
            let process = self.process()
            #expect(process.notesParts(.read) && process.quarantine.isEmpty)
            _ = process.beginPass(.read)
            process.leave(process.enter(.row(table: "inbox", key: "1"), .read))
            _ = process.enter(.row(table: "inbox", key: "3"), .read)
        }
        let last = self.process()
        #expect(last.quarantine.map(\.subject) == [.row(table: "inbox", key: "3")])
        let pass = last.beginPass(.read)
        for number in 0..<5 {
            _ = last.part(.row(table: "inbox", key: "\(number)"), of: .read) { visited.append(number) }
        }
        last.end(pass)
        #expect(visited == [0, 1, 2, 4])
        #expect(!self.process().notesParts(.read))
    }

    /// The core stores one batch while it processes the next.
    @Test func notesEventBesideStoring() {
        for _ in 0..<2 {
            let process = self.process()
            let pass = process.beginPass(.store)
            _ = process.enter(self.a, of: self.group, .ingest)
            process.end(pass)
        }
        #expect(self.process().quarantine.map(\.subject) == [self.a])
    }

    /// A busy account writes the same group in nearly every pass, so kill -9 often hits that write.
    @Test func killsDoNotQuarantineBusyGroup() {
        for kill in 0..<20 {
            let process = self.process()
            #expect(process.quarantine.isEmpty, "after \(kill) kills")
            for _ in 0..<3 {
                let pass = process.beginPass(.store)
                _ = process.part(self.group, of: .store) {}
                process.end(pass)
            }
            _ = process.beginPass(.store)
            if kill.isMultiple(of: 2) { _ = process.enter(self.group, .store) }
        }
    }

    @Test func successfulPassesNoteNoParts() {
        let process = self.process()
        let pass = process.beginPass(.read)
        let before = self.notes.writes
        for number in 0..<100 { _ = process.part(.row(table: "inbox", key: "\(number)"), of: .read) {} }
        #expect(self.notes.writes == before)
        process.end(pass)
    }

    // MARK: Frames

    private func frame(_ id: String, _ subscription: String = "x") -> [UInt8] {
        Array(#"["EVENT","\#(subscription)",{"id":"\#(id)","content":"\"id\":\""}]"#.utf8)
    }

    @Test func recognisesSameEventUnderOtherSubscriptions() {
        let id = String(repeating: "5", count: 64)
        _ = self.process().begin(frame: self.frame(id), from: self.relay)
        _ = self.process().begin(frame: self.frame(id, "y"), from: self.relay)
        let third = self.process()
        #expect(third.begin(frame: self.frame(id, "z"), from: self.relay) == nil)
        #expect(third.quarantine.first?.claimedID == id && third.quarantine.first?.stage == .decode)
        #expect(third.quarantine.first?.matches(eventPrefix: "5555") == true)
        let other = third.begin(frame: self.frame(String(repeating: "6", count: 64)), from: self.relay)
        #expect(other != nil)
    }

    @Test func severalSuspectsNeedAThirdDeath() throws {
        let frames = (0..<3).map { self.frame(String(repeating: "\($0)", count: 64)) }
        for _ in 0..<2 {
            let process = self.process()
            for frame in frames { _ = process.begin(frame: frame, from: self.relay) }
        }
        let third = self.process()
        #expect(third.quarantine.isEmpty)
        for frame in frames.dropFirst() {
            third.end(try #require(third.begin(frame: frame, from: self.relay)))
        }
        _ = third.begin(frame: frames[0], from: self.relay)
        #expect(self.process().quarantine.map(\.subject) == [.frame(frames[0])])
    }

    @Test func sameFrameFromSeveralRelaysCountsOnce() throws {
        let process = self.process()
        let frame = self.frame(String(repeating: "1", count: 64))
        let first = try #require(process.begin(frame: frame, from: self.relay))
        let second = try #require(process.begin(frame: frame, from: try RelayURL("wss://other.example")))
        process.end(first)
        #expect(!self.notes.inFlight.isEmpty)
        process.end(second)
        #expect(self.notes.inFlight.isEmpty)
    }

    // MARK: Operators

    @Test func releasedEntriesReturnAfterOneDeath() {
        for _ in 0..<2 { _ = self.process().enter(self.group, .restore) }
        let third = self.process()
        third.releaseAtStart(self.group)
        let fourth = self.process()
        #expect(!fourth.holds(self.group) && fourth.quarantine.first?.isReleased == true)
        _ = fourth.enter(self.group, .restore)
        let fifth = self.process()
        #expect(fifth.holds(self.group) && fifth.quarantine.first?.deaths == 3)
        fifth.forget(self.group)
        #expect(!fifth.holds(self.group) && self.process().quarantine.isEmpty)
    }

    @Test func keepsTheEventOnce() {
        for _ in 0..<2 { _ = self.process().enter(self.a, .ingest) }
        let process = self.process()
        process.keep([1, 2], of: self.b)
        process.keep([UInt8](repeating: 1, count: QuarantineEntry.maximumContent + 1), of: self.a)
        #expect(process.quarantine.first?.content == nil)
        process.keep(Array("{}".utf8), of: self.a)
        process.keep(Array("[]".utf8), of: self.a)
        #expect(self.process().quarantine.first?.content == Array("{}".utf8))
    }

    // MARK: Bounds

    @Test func journalKeepsAllInFlightNotes() {
        var process = self.process()
        let scope = CrashSubject.group(GroupID([UInt8](repeating: 9, count: 100)))
        for number in 0..<300 {
            let frame = self.frame(String(repeating: "7", count: 64), "s") + Array("\(number)".utf8)
            _ = process.begin(frame: Array("{".utf8) + frame, from: self.relay)
            let subject = CrashSubject(.event, String(repeating: "a", count: 60) + "\(number)")
            _ = process.enter(subject, of: scope, .ingest)
            if number % 7 == 6 { process = self.process() }
            #expect(self.notes.inFlight.utf8.count <= 3_900)
            #expect(self.notes.inFlight.contains(subject.name) || number % 7 == 6)
        }
        #expect(process.quarantine.count <= QuarantineList.maximumCount)
    }

    private static let strange = [
        "\u{0}\u{1}", "1 1 ingest\n", "1 1 ingest event/ -\n", "9 1 ingest event/aa -\n", "1 1 eat event/aa -\n",
        "1 1 ingest nonsense/aa -\n", "-1 1 ingest event/aa -", String(repeating: "1 0 ingest event/aa -\n", count: 99),
    ]

    @Test(arguments: strange.indices)
    func skipsUnreadableNotes(index: Int) {
        _ = self.notes.writeInFlight(Array(Self.strange[index].utf8))
        _ = self.notes.writeQuarantine(Array(Self.strange[index].utf8))
        let process = self.process()
        #expect(process.quarantine.isEmpty)
        process.leave(process.enter(self.b, .ingest))
        #expect(!self.process().holds(self.b))
    }
}
