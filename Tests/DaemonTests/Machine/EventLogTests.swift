import Nostr
import PikaCore
import Testing

@testable import Daemon

@Suite struct EventLogTests {
    private static let event = DaemonEvent.recorded(["type": "x"])

    private static func log(_ change: (inout DaemonSettings) -> Void = { _ in }) -> EventLog {
        var settings = DaemonSettings(core: CoreConfiguration(relays: []), keptEvents: 10, keptFor: 100)
        change(&settings)
        return EventLog(settings)
    }

    private static func cause(_ inboxID: Int64) -> EventLog.Cause {
        .event(MachineFixtures.join(inboxID, "c"))
    }

    @Test func assignsCursorsOnceStored() {
        var log = Self.log()
        let batch = log.prepare([Self.event, Self.event], for: .none, now: 5)
        #expect(batch.first == 1 && batch.last == 2 && log.last == 0)
        #expect(batch.entries.map(\.key) == ["log/1", "log/2", "log"])
        #expect(log.append(batch) == 0)
        #expect(log.last == 2 && log.oldest == 1)
    }

    @Test func repeatedCauseKeepsItsCursors() {
        var log = Self.log { $0.rememberedEvents = 1 }
        let batch = log.prepare([Self.event], for: Self.cause(7), now: 0)
        _ = log.append(batch)
        #expect(log.known(1, for: Self.cause(7))?.first == 1)
        #expect(log.known(1, for: Self.cause(7))?.isNew == false)
        let later = log.prepare([Self.event], for: Self.cause(8), now: 0)
        _ = log.append(later)
        #expect(log.known(1, for: Self.cause(7)) == nil)
        var restored = Self.log()
        restored.restore(["last": 2, "announced": ["a"], "recorded": [[8, 2]]])
        #expect(restored.known(1, for: Self.cause(8))?.first == 2 && restored.last == 2)
    }

    @Test func programsRememberTheNewestEventPerChat() throws {
        var log = Self.log { $0.program = ProgramRules(name: "p") { _, _ in } }
        #expect(log.chatOfRecord(Self.cause(1)) == "c")
        let batch = log.prepare([Self.event], for: Self.cause(1), now: 0)
        let newest = try #require(batch.entries.first { $0.key == "newest/c" }?.value)
        let event = MachineFixtures.join(1, "c")
        #expect(log.known(1, for: event, newest: newest)?.first == 1)
    }

    @Test func expiresEntries() throws {
        var log = Self.log()
        let batch = log.prepare([Self.event], for: .none, now: 5)
        let entry = try #require(batch.entries.first?.value)
        #expect(log.read(1, from: entry, now: 105) != nil)
        #expect(log.read(1, from: entry, now: 106) == nil && log.read(11, from: entry, now: 5) == nil)
    }

    @Test func announcesInvitationsOnce() throws {
        var log = Self.log()
        let id = try EventID(bytes: [UInt8](repeating: 1, count: 32))
        let other = try EventID(bytes: [UInt8](repeating: 2, count: 32))
        #expect(log.announce(id, pending: [id]) == true)
        #expect(log.announce(id, pending: [id]) == false)
        #expect(log.announce(other, pending: [other]) == true)
        #expect(log.announce(id, pending: [id]) == true, "an id must be forgotten once it is no longer pending")
    }
}
