import Nostr
import Testing

@testable import Daemon

@Suite struct ProgramMachineTests {
    private let client = DaemonClient(.program)
    private static let explicit = DaemonCommand.Hello(
        version: 2, client: nil, token: nil, cursor: nil, subscribes: false, acknowledges: true)

    private func machine(keptEvents: Int64 = 1000, tries: Int = 2, hello: Bool = true) -> ProgramMachine {
        var rules = ProgramRules(name: "test") { _, _ in }
        rules.tries = tries
        rules.openEvents = 2
        var machine = ProgramMachine(rules, keptEvents: keptEvents)
        machine.begin(self.client, now: 0)
        if hello {
            machine.request(Self.explicit, self.client, oldestCursor: 1)
            _ = machine.applyRequest(of: self.client, last: 0, now: 0)
        }
        return machine
    }

    /// Returns the cursor of the next event to send.
    private func next(_ machine: inout ProgramMachine, last: Int64) -> Int64? {
        machine.sendNext(to: self.client, last: last)?.cursor
    }

    @Test func sendsNothingWhileUndecided() {
        var machine = self.machine(hello: false)
        #expect(self.next(&machine, last: 3) == nil)
        let stored: JSONObject = ["up_to": 0, "beyond": [], "failures": [], "acknowledges": false]
        #expect(machine.confirm(self.client, last: 3, now: 5) == [.wake, .store(stored)])
        #expect(self.next(&machine, last: 3) == 1)
    }

    @Test func boundsEventsInFlight() throws {
        var machine = self.machine()
        #expect(self.next(&machine, last: 3) == 1)
        #expect(self.next(&machine, last: 3) == 2)
        #expect(self.next(&machine, last: 3) == nil)
        let effects = try machine.acknowledge(2, self.client, last: 3, now: 1)
        #expect(effects.contains(.wake))
        #expect(self.next(&machine, last: 3) == 3)
        #expect(throws: DaemonFailure.self) { try machine.acknowledge(4, self.client, last: 3, now: 1) }
        let repeated = try machine.acknowledge(2, self.client, last: 3, now: 1)
        #expect(repeated.isEmpty)
        #expect(machine.waitingEvents(last: 3) == 2)
    }

    @Test func ignoresDeliveriesOfAnEarlierMode() throws {
        var machine = self.machine()
        let sent = machine.sendNext(to: self.client, last: 1)
        let delivery = try #require(sent)
        #expect(machine.isCurrent(delivery) && !delivery.isConsumedOnWrite)
        machine.request(Self.explicit, self.client, oldestCursor: 1)
        _ = machine.applyRequest(of: self.client, last: 1, now: 1)
        #expect(!machine.isCurrent(delivery))
        #expect(machine.written(delivery, last: 1, now: 1) == [])
    }

    @Test func repeatedFailureMakesADeadLetter() {
        var machine = self.machine()
        _ = machine.sendNext(to: self.client, last: 1)
        let first = machine.finish(self.client, because: .ended, last: 1)
        #expect(first.report.blamed?.cursor == 1 && first.deadLetter == nil)
        machine.begin(self.client, now: 0)
        machine.request(Self.explicit, self.client, oldestCursor: 1)
        _ = machine.applyRequest(of: self.client, last: 1, now: 0)
        _ = machine.sendNext(to: self.client, last: 1)
        let second = machine.finish(self.client, because: .ended, last: 1)
        #expect(second.report.blamed?.count == 2 && second.deadLetter == 1)
        #expect(machine.waitingEvents(last: 1) == 0)
    }

    @Test func admitsEventsOnceTheBacklogHasRoom() throws {
        var machine = self.machine(keptEvents: 66)
        #expect(machine.hasRoom(last: 1) && !machine.hasRoom(last: 2))
        _ = machine.sendNext(to: self.client, last: 2)
        let effects = try machine.acknowledge(1, self.client, last: 2, now: 1)
        #expect(effects.contains(.admit))
        #expect(!machine.isRunning(DaemonClient(.program)))
    }

    @Test func detectsStalls() {
        var machine = self.machine()
        #expect(machine.recorded(after: 0, now: 10) == [.wake])
        #expect(machine.checkStall(of: self.client, milliseconds: 5, last: 1, now: 14) == .checkAgain(at: 15))
        #expect(machine.checkStall(of: self.client, milliseconds: 5, last: 1, now: 15) == .stalled(.consumesNothing))
        machine.beginWaiting(self.client, now: 9)
        #expect(machine.checkStall(of: self.client, milliseconds: 5, last: 1, now: 15) == .stalled(.readsNothing))
        _ = machine.finish(self.client, because: nil, last: 1)
        #expect(machine.checkStall(of: self.client, milliseconds: 5, last: 1, now: 15) == nil)
    }

    @Test func countsInvalidLinesAtPowersOfTen() {
        var machine = self.machine()
        #expect((1...100).compactMap { _ in machine.countInvalidLine() } == [1, 10, 100])
    }
}
