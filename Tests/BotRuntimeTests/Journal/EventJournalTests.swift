import BotKit
import Foundation
import LiveTesting
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

private func entry(_ number: Int, ignored reason: IgnoreReason = .own) -> JournalEntry {
    JournalEntry(arrived("", Int64(number)), at: UnixTime(Int64(number)), bot: "bot", ignored: reason, detail: "")
}

private func entry(_ number: Int, _ reason: HandlingReason) -> JournalEntry {
    JournalEntry(arrived("", Int64(number)), at: UnixTime(Int64(number)), bot: "bot", reason, detail: "")
}

struct JournalRingTests {
    /// The stored blocks of a ring.
    private struct Blocks {
        var stored: [String: [UInt8]] = [:]

        mutating func store(_ ring: inout JournalRing) {
            for (key, bytes) in ring.drainUnstored() { stored[key] = bytes }
        }

        func restored(_ capacity: Int) -> JournalRing {
            var ring = JournalRing(name: "r", capacity: capacity)
            ring.restore(ring.keys.compactMap { stored[$0] })
            return ring
        }
    }

    @Test func keepsNewestEntries() {
        var ring = JournalRing(name: "r", capacity: 100)
        for number in 1...1_234 {
            ring.add(entry(number))
            #expect(ring.entries.count < 200)
        }
        #expect(ring.newest.map(\.at) == (1_135...1_234).map { UnixTime(Int64($0)) })
    }

    @Test(arguments: [1, 63, 64, 65, 100, 128, 500, 1_000, 1_234])
    func restartRestoresNewestEntries(count: Int) {
        var blocks = Blocks()
        var ring = JournalRing(name: "r", capacity: 100)
        for number in 1...count {
            ring.add(entry(number))
            if number % 7 == 0 { blocks.store(&ring) }
        }
        blocks.store(&ring)
        #expect(!ring.hasUnstored)
        var second = blocks.restored(100)
        #expect(second.newest.map(\.at) == ring.newest.map(\.at))
        // The same holds in the next process.
        for number in count + 1...count + 30 { second.add(entry(number)) }
        blocks.store(&second)
        #expect(blocks.stored.count <= second.keys.count)
        let third = blocks.restored(100)
        #expect(third.newest.suffix(min(100, 30)).map(\.at) == second.newest.suffix(min(100, 30)).map(\.at))
        #expect(third.newest.map(\.at).isSorted)
    }

    @Test func ordersEarlyEntriesAfterRestoredOnes() {
        var blocks = Blocks()
        var first = JournalRing(name: "r", capacity: 10)
        for number in 1...3 { first.add(entry(number)) }
        blocks.store(&first)
        var second = JournalRing(name: "r", capacity: 10)
        second.add(entry(4))
        second.restore(second.keys.compactMap { blocks.stored[$0] })
        #expect(second.newest.map(\.at) == [1, 2, 3, 4])
        blocks.store(&second)
        #expect(blocks.restored(10).newest.map(\.at) == [1, 2, 3, 4])
    }

    @Test func skipsInvalidEntries() {
        var ring = JournalRing(name: "r", capacity: 10)
        ring.restore([
            [], Array("{}".utf8), Array(#"{"v":2,"first":0,"entries":[]}"#.utf8),
            Array(#"{"v":1,"first":-1,"entries":[]}"#.utf8),
            Array(#"{"v":1,"first":9223372036854775807,"entries":[]}"#.utf8), [0xff, 0xfe],
        ])
        ring.add(entry(1))
        #expect(ring.newest.map(\.at) == [1])
    }
}

extension [UnixTime] {
    fileprivate var isSorted: Bool { zip(self, self.dropFirst()).allSatisfy(<) }
}

@Suite(.bounded)
struct EventJournalTests {
    @Test func limitsEachKindSeparately() {
        let journal = EventJournal(capacity: 5)
        for number in 1...50 { journal.note(entry(number)) }
        journal.note(entry(60, .done))
        journal.note(
            CoreNotice(event: eventID(7), fate: .refused, reason: "not_admin", detail: "no admin", at: 70))
        #expect(journal.ignored.map(\.at) == [46, 47, 48, 49, 50])
        #expect(journal.entries(matching: "").map(\.at) == [46, 47, 48, 49, 50, 60, 70])
        #expect(journal.entries(matching: eventID(7).hex).map(\.reason) == ["not_admin"])
    }

    @Test func restoresEventsAfterRestart() async {
        let core = ScriptedCore()
        let clock = StandingClock()
        let first = EventJournal()
        first.note(entry(1, ignored: .loop))
        first.note(entry(2, .done))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await first.run(with: core, clock: clock) }
            await clock.waitForSleeper()
            // Batched and delayed, but written before the end.
            #expect(core.storedKeys.isEmpty)
            group.cancelAll()
        }
        #expect(core.storedKeys.count == 2)
        let second = EventJournal()
        await second.restore(from: core)
        #expect(second.entries(matching: "").map(\.reason) == ["loop", "done"])
    }
}

struct EventExplanationTests {
    private func explain(_ query: String, _ journal: EventJournal) -> EventExplanation? {
        EventExplanation(of: query, from: journal)
    }

    @Test func refusesInvalidIDs() {
        let journal = EventJournal()
        for query in ["", "abc", "xyz1", "12 4", String(repeating: "a", count: 65), "é000"] {
            #expect(explain(query, journal) == nil, "\(query)")
        }
        #expect(explain("ABCD", journal)?.query == "abcd")
    }

    @Test func explainsUnknownEvents() {
        let lines = explain("abcd", EventJournal())?.lines ?? []
        #expect(lines.first?.contains("No event with this inner or outer id") == true)
        #expect(lines.count == 3)
    }

    @Test(arguments: IgnoreReason.allCases)
    func everyReasonHasTextAndAdvice(reason: IgnoreReason) {
        let journal = EventJournal()
        journal.note(entry(0xabcd, ignored: reason))
        // By the full id, a prefix of the inner one, and the outer one.
        for query in [eventID(0xabcd).hex, "0000", eventID(0xabcd + 0xa000).hex] {
            let part = explain(query, journal)?.parts.first
            #expect(part?.sentence.hasPrefix("ignored:") == false)
            #expect(part?.advice.isEmpty == false)
            #expect(part?.entry.bot == "bot")
        }
    }

    @Test(arguments: CoreReason.allCases)
    func everyRefusalHasItsOwnText(reason: CoreReason) {
        let journal = EventJournal()
        journal.note(CoreNotice(event: eventID(9), fate: .refused, reason: reason.rawValue, detail: "", at: 1))
        let part = explain(eventID(9).hex, journal)?.parts.first
        #expect(part?.entry.knownReason == .core(reason))
        #expect(part?.sentence.hasPrefix("refused:") == false)
    }

    @Test func ignoredKindsNeedNoSubscription() {
        let journal = EventJournal()
        journal.note(CoreNotice(event: eventID(9), fate: .refused, reason: "ignored_kind", detail: "", at: 1))
        let part = explain(eventID(9).hex, journal)?.parts.first
        #expect(part?.sentence.contains("subscribe") == false && part?.advice.isEmpty == false)
    }

    @Test(arguments: HandlingReason.allCases)
    func everyOutcomeIsRecognizedByItsCode(reason: HandlingReason) {
        #expect(entry(1, reason).knownReason == .handling(reason))
    }

    /// A journal may hold codes of Marmot and MLS, and of other versions.
    @Test(arguments: JournalEntry.Fate.allCases)
    func showsUnknownStoredCodes(fate: JournalEntry.Fate) throws {
        let stored = #"{"at":1,"wrapper":"abcdef","fate":"\#(fate.rawValue)","reason":"new_code","detail":""}"#
        let entry = try JSONDecoder().decode(JournalEntry.self, from: Data(stored.utf8))
        let journal = EventJournal()
        journal.note(entry)
        #expect(entry.knownReason == nil && entry.fate == fate)
        #expect(explain("abcdef", journal)?.parts.first?.sentence.contains("new_code") == true)
    }

    @Test func showsEachBotsVerdict() {
        let admission = Admission()
        let event = arrived("hi", 0xbeef)
        let scope = scope(chats: [chatSummary("c1", isGroup: true)])
        admission.arrived(event)
        #expect(explain("0000", admission.journal)?.openSince == [1_700_000_000])
        _ = admission.verdict(
            on: event, for: "one", BotPolicy(triggers: .admins), in: scope, nowMilliseconds: 5_000
        ) { true }
        admission.note(.handled(handler: "message", effects: 2), of: "two", on: event, nowMilliseconds: 6_000)
        admission.note(.failed(handler: "message", error: "Oops"), of: "three", on: event, nowMilliseconds: 7_000)
        admission.note(.timedOut(handler: "message"), of: "four", on: event, nowMilliseconds: 8_000)
        _ = admission.finish(.event(event), effects: [], nowMilliseconds: 9_000)
        let found = explain(eventID(0xbeef).hex, admission.journal)
        #expect(found?.openSince == [])
        #expect(found?.parts.map(\.entry.bot) == ["one", "two", "three", "four"])
        #expect(found?.parts.map(\.entry.fate) == [.ignored, .handled, .failed, .failed])
        #expect(found?.lines.first == "event \(eventID(0xbeef).hex) in chat c1")
        #expect(found?.json["events"]?.array?.count == 4)
        #expect(found?.json["lines"]?.array?.count == found?.lines.count)
    }

    @Test func showsEachFailedAction() {
        let admission = Admission()
        let event = arrived("hi", 0xbeef)
        let handled = BotOutcome.handled(handler: "message", effects: 3)
        admission.note(handled, of: "one", on: event, nowMilliseconds: 5_000)
        let id = eventID(0xbeef)
        // Codes that are also reasons of the core or of handlers name the action's error here.
        for (code, detail) in [("timeout", "a of one: x"), ("timeout", "b of one: y"), ("duplicate", "c of one: z")] {
            admission.journal.note(
                CoreNotice(event: id, inner: id, fate: .actionFailed, reason: code, detail: detail, at: 6))
        }
        let found = explain(id.hex, admission.journal)
        #expect(found?.parts.map(\.entry.fate) == [.handled, .actionFailed, .actionFailed, .actionFailed])
        #expect(found?.parts.dropFirst().allSatisfy { $0.sentence.hasPrefix("an action failed") } == true)
        #expect(found?.parts.dropFirst().allSatisfy { !$0.advice.isEmpty } == true)
        #expect(found?.lines.contains { $0.contains("duplicate (c of one: z)") } == true)
        #expect(found?.json["events"]?.array?.last?["fate"] == "action_failed")
    }

    @Test func withdrawalHasItsOwnLine() {
        let admission = Admission()
        let handled = BotOutcome.handled(handler: "message", effects: 1)
        let events = [
            arrived("hi", 0xbeef), withdrawal(7, of: 0xbeef), withdrawal(8, of: 0xbeef, isRestored: true),
        ]
        for (number, event) in events.enumerated() {
            admission.note(handled, of: "one", on: event, nowMilliseconds: Int64(number) * 1_000)
        }
        // Found by the inner id, and by the id of the event on the relays.
        for id in [eventID(0xbeef), eventID(0xbeef + 0xa000)] {
            let found = explain(id.hex, admission.journal)
            #expect(found?.parts.map(\.entry.change) == [nil, .withdrawal, .restoration])
            #expect(found?.lines.filter { $0.contains("settled on another branch") }.count == 1)
        }
    }

    @Test func readsEntriesWithoutChange() throws {
        let stored = #"{"at":1,"wrapper":"abcdef","fate":"handled","reason":"done","detail":""}"#
        #expect(try JSONDecoder().decode(JournalEntry.self, from: Data(stored.utf8)).change == nil)
    }

    @Test func showsWaitingThenRefusedEvents() {
        let journal = EventJournal()
        for _ in 1...3 {
            journal.note(CoreNotice(event: eventID(9), fate: .waiting, reason: "no_key", detail: "none", at: 1))
        }
        journal.note(CoreNotice(event: eventID(9), fate: .refused, reason: "bad_signature", detail: "no", at: 2))
        let found = explain(eventID(9).hex, journal)
        #expect(found?.parts.map(\.entry.fate) == [.waiting, .refused])
        #expect(found?.parts.allSatisfy { !$0.advice.isEmpty } == true)
    }
}
