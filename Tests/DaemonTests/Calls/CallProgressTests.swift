import PikaCore
import Testing

@testable import Daemon

@Suite struct CallProgressTests {
    @Test func announcesEachStageOnce() {
        var calls = CallProgress()
        #expect(calls.receive(MachineFixtures.call(.ringing), isAllowed: true) == [.announceInvite])
        #expect(calls.receive(MachineFixtures.call(.ringing), isAllowed: true) == [])
        #expect(calls.receive(MachineFixtures.call(.connecting), isAllowed: true) == [.announceStart, .followMedia])
        #expect(calls.beginMedia(of: "id") == true)
        #expect(calls.beginMedia(of: "id") == false)
        #expect(calls.beginMedia(of: "other") == false)
        #expect(calls.receive(MachineFixtures.call(.active), isAllowed: true) == [])
        let ended = MachineFixtures.call(.ended(reason: "r"))
        #expect(calls.receive(ended, isAllowed: true) == [.announceEnd(reason: "r")])
        #expect(calls.receive(ended, isAllowed: true) == [])
    }

    @Test func declinesPeersThatAreNotAllowed() {
        var calls = CallProgress()
        #expect(calls.receive(MachineFixtures.call(.ringing), isAllowed: false) == [.decline])
    }

    @Test func commandReportsItsOwnChanges() {
        var calls = CallProgress()
        calls.beginCommand(on: "id")
        #expect(calls.receive(MachineFixtures.call(.connecting), isAllowed: true) == [.followMedia])
        calls.start("id")
        calls.endCommand()
        #expect(calls.receive(MachineFixtures.call(.active), isAllowed: true) == [.followMedia])
        calls.beginCommand(on: "id")
        #expect(calls.receive(MachineFixtures.call(.ended(reason: "r")), isAllowed: true) == [])
        calls.end("id")
        calls.endCommand()
        #expect(calls.receive(MachineFixtures.call(.ended(reason: "r")), isAllowed: true) == [])
    }
}
