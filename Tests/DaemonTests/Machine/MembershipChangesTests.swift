import Nostr
import PikaCore
import Testing

@testable import Daemon

@Suite struct MembershipChangesTests {
    @Test func holdsJoinsWhileAccepting() {
        var changes = MembershipChanges()
        #expect(changes.hold(MachineFixtures.join(1, "a")) == false)
        changes.beginAccepting()
        #expect(changes.hold(MachineFixtures.join(2, "a")) == true)
        #expect(changes.hold(MachineFixtures.join(3, "b")) == true)
        let announced = changes.endAccepting(announcing: "a")
        #expect(announced.map(\.inboxID) == [3] && changes.hasCommandJoins)
        let completed = changes.completeCommandJoins()
        #expect(completed.map(\.inboxID) == [2] && !changes.hasCommandJoins)
        #expect(changes.hold(MachineFixtures.join(4, "a")) == false)
    }

    @Test func acceptsEachInvitationOnce() throws {
        var changes = MembershipChanges()
        let id = try EventID(bytes: [UInt8](repeating: 1, count: 32))
        #expect(changes.shouldAutoAccept(id) == true)
        #expect(changes.shouldAutoAccept(id) == false)
    }
}
