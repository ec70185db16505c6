import Testing

@testable import Load

struct GroupLedgerTests {
    private func ledger(_ members: [Int] = [0, 1, 2]) -> GroupLedger {
        var ledger = GroupLedger(number: 0, founder: 0)
        for member in members { ledger.joined(member) }
        return ledger
    }

    private let times = SendTimes(sent: .seconds(1))

    private func send(from sender: Int, _ ledger: inout GroupLedger) throws -> (stamp: MessageStamp, expected: Int) {
        let sent = ledger.send(from: sender, times)
        return try #require(sent)
    }

    @Test func expectsOneDeliveryPerOtherMember() throws {
        var ledger = ledger()
        let (stamp, expected) = try send(from: 0, &ledger)
        #expect((expected, ledger.outstanding) == (2, 2))
        let first = ledger.received(stamp, by: 1)
        #expect(first == .init(verdict: .inOrder, expectedSince: times, isFirstForMember: true))
        let again = ledger.received(stamp, by: 1)
        #expect(again == .init(verdict: .repeated, expectedSince: nil, isFirstForMember: false))
        #expect(ledger.outstanding == 1)
        #expect(ledger.received(stamp, by: 2).expectedSince == times)
        #expect(ledger.outstanding == 0)
    }

    @Test func newMemberExpectsNoEarlierMessages() throws {
        var ledger = ledger()
        let (stamp, _) = try send(from: 0, &ledger)
        ledger.invited(3)
        ledger.joined(3)
        #expect(ledger.received(stamp, by: 3).expectedSince == nil)
        #expect(ledger.send(from: 0, times)?.expected == 3)
    }

    @Test func leavingMemberExpectsNothing() throws {
        var ledger = ledger()
        let (stamp, _) = try send(from: 0, &ledger)
        #expect(ledger.beginLeave(1) == 1)
        #expect(ledger.beginLeave(1) == 0)
        #expect(ledger.outstanding == 1)
        #expect(ledger.received(stamp, by: 1).expectedSince == nil)
        #expect(ledger.send(from: 0, times)?.expected == 1)
        #expect(ledger.members == [0, 2])
    }

    @Test func onlyMembersSend() {
        var ledger = ledger()
        ledger.invited(3)
        _ = ledger.beginLeave(1)
        for agent in [1, 3, 4] { #expect(ledger.send(from: agent, times) == nil) }
        #expect(ledger.outstanding == 0)
    }

    @Test func leavingSenderWithdrawsUnsentMessages() throws {
        var ledger = ledger()
        let (sent, _) = try send(from: 1, &ledger)
        ledger.markSent(sent)
        let (delivered, _) = try send(from: 1, &ledger)
        _ = ledger.received(delivered, by: 0)
        let (unsent, _) = try send(from: 1, &ledger)
        #expect(ledger.beginLeave(1) == 2)
        #expect(ledger.outstanding == 3)
        #expect(ledger.received(unsent, by: 2).expectedSince == nil)
        #expect(ledger.received(delivered, by: 2).expectedSince == times)
        for member in [0, 2] { #expect(ledger.received(sent, by: member).expectedSince == times) }
        #expect(ledger.outstanding == 0)
    }

    @Test func withdrawnMessageIsNotExpected() throws {
        var ledger = ledger()
        let (stamp, _) = try send(from: 0, &ledger)
        #expect(ledger.withdraw(stamp) == 2)
        #expect(ledger.withdraw(stamp) == 0)
        #expect(ledger.outstanding == 0)
    }

    @Test func numbersMessagesPerSender() {
        var ledger = ledger()
        #expect((0..<3).map { _ in ledger.send(from: 1, times)?.stamp.sequence } == [0, 1, 2])
        #expect(ledger.send(from: 2, times)?.stamp == MessageStamp(sender: 2, sequence: 0))
    }

    @Test func handlesManyMembers() throws {
        var ledger = ledger(Array(0..<200))
        let (stamp, expected) = try send(from: 7, &ledger)
        #expect(expected == 199)
        for member in 0..<200 where member != 7 { _ = ledger.received(stamp, by: member) }
        #expect(ledger.outstanding == 0)
    }
}

struct GroupViewTests {
    private func view(_ epoch: UInt64, _ name: String = "a") -> GroupView {
        GroupView(epoch: epoch, name: name, members: ["x"])
    }

    @Test func findsMembersThatDisagree() {
        #expect(GroupView.diverged([]) == [])
        #expect(GroupView.diverged([view(2), view(2)]) == [false, false])
        #expect(GroupView.diverged([view(2), view(3), view(2)]) == [false, true, false])
        #expect(GroupView.diverged([view(2), view(2, "b"), view(2)]) == [false, true, false])
        // In a tie, the view with the higher epoch wins.
        #expect(GroupView.diverged([view(3), view(2)]) == [false, true])
    }

    @Test func membersWithoutGroupDisagree() {
        #expect(GroupView.diverged([nil, nil, view(2)]) == [true, true, false])
        #expect(GroupView.diverged([nil, nil]) == [true, true])
    }
}

struct SequenceTrackerTests {
    private func verdicts(_ numbers: Int...) -> [SequenceTracker.Verdict] {
        var tracker = SequenceTracker()
        return numbers.map { tracker.note($0) }
    }

    @Test func detectsReordering() {
        #expect(verdicts(0, 1, 2) == [.inOrder, .inOrder, .inOrder])
        #expect(verdicts(0, 2, 1, 3) == [.inOrder, .inOrder, .late, .inOrder])
        #expect(verdicts(5, 6, 9) == [.inOrder, .inOrder, .inOrder])
    }

    @Test func detectsDuplicates() {
        #expect(verdicts(0, 0) == [.inOrder, .repeated])
        #expect(verdicts(0, 3, 1, 1, 2, 3) == [.inOrder, .inOrder, .late, .repeated, .late, .repeated])
        #expect(verdicts(5, 4, 4) == [.inOrder, .late, .repeated])
    }
}

struct MessageStampTests {
    @Test func parsesItsOwnText() throws {
        for bytes in [0, 9, 64, 5000] {
            let stamp = MessageStamp(sender: 12, sequence: 345)
            let text = stamp.text(bytes: bytes)
            #expect(text.utf8.count == max(bytes, 12))
            #expect(MessageStamp(text) == stamp)
        }
    }

    @Test(arguments: [
        "", "load", "load 1", "load 1 x", "load -1 2", "hello 1 2", "load 1 -2", "load 99999999999999999999 1",
    ])
    func refusesOtherText(text: String) {
        #expect(MessageStamp(text) == nil)
    }
}
