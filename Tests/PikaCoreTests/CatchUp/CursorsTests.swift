import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct CursorsTests {
    private let group: GroupID = [1]
    private let relay: RelayURL

    init() throws { self.relay = try RelayURL("wss://relay.example") }

    @Test func positionNeverMovesBack() {
        var (cursors, step) = (Cursors(), CoreStep.at(0))
        for time: UnixTime in [5, 3, 5, 7] { cursors.advance(self.relay, to: time, &step) }
        #expect(cursors.position(in: self.relay) == 7 && step.changes.count == 2)
    }

    @Test func storesBacklogFlagOncePerChange() {
        var (cursors, step) = (Cursors(), CoreStep.at(0))
        for isDue in [false, true, true, false, true] {
            cursors.noteBacklog(self.group, self.relay, isDue: isDue, &step)
            #expect(cursors.isBacklogDue(self.group, self.relay) == isDue)
        }
        #expect(step.changes.count == 3)
    }

    @Test func firstEntryCounts() {
        var cursors = Cursors()
        for seconds: Int64 in [4, 9] {
            var step = CoreStep.at(seconds * 1000)
            cursors.noteEntry(of: self.group, &step)
            cursors.noteRemoval(from: self.group, &step)
            cursors.noteInvitation(to: self.group, at: 20 - seconds, &step)
        }
        #expect(cursors.enteredAt(self.group) == 4 && cursors.removedAt(self.group) == 9)
        #expect(cursors.invitedAt(self.group) == 16)
    }
}
