import Nostr
import Testing

@testable import Load

struct GroupLedgerTests {
    private func ledger(_ members: [Int] = [0, 1, 2], settlesBranches: Bool = false) -> GroupLedger {
        var ledger = GroupLedger(number: 0, founder: 0, settlesBranches: settlesBranches)
        ledger.adding(members)
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

    @Test func withdrawnMessageIsExpectedAgain() throws {
        var ledger = ledger()
        let (stamp, _) = try send(from: 0, &ledger)
        // Not received yet.
        #expect(ledger.withdrawn(stamp, by: 1, at: .seconds(2)) == false)
        _ = ledger.received(stamp, by: 1)
        _ = ledger.received(stamp, by: 2)
        #expect(ledger.outstanding == 0)
        #expect(ledger.withdrawn(stamp, by: 1, at: .seconds(2)) == true)
        #expect(ledger.withdrawn(stamp, by: 1, at: .seconds(2)) == false)
        #expect(ledger.outstanding == 1)
        let again = ledger.received(stamp, by: 1)
        #expect(again.verdict == .late && again.expectedSince == SendTimes(sent: .seconds(2)))
        #expect(ledger.outstanding == 0)
        #expect(ledger.received(stamp, by: 1).verdict == .repeated)
    }

    @Test func restoredMessageIsNotExpectedTwice() throws {
        var ledger = ledger()
        let (stamp, _) = try send(from: 0, &ledger)
        _ = ledger.received(stamp, by: 1)
        #expect(ledger.withdrawn(stamp, by: 1, at: .seconds(2)) == true)
        #expect(ledger.restored(stamp, by: 1) == true)
        #expect(ledger.outstanding == 1)
        #expect(ledger.restored(stamp, by: 1) == false)
        _ = ledger.beginLeave(1)
        #expect(ledger.withdrawn(stamp, by: 1, at: .seconds(3)) == false)
    }

    /// Its branch lost after a relay had accepted it.
    @Test func lostMessageIsNotExpected() throws {
        var ledger = ledger([0, 1, 2, 3], settlesBranches: true)
        let (lost, _) = try send(from: 0, &ledger)
        for member in [1, 2] { _ = ledger.received(lost, by: member) }
        // One member withdraws it before the sender gives it up, another one later.
        #expect(ledger.withdrawn(lost, by: 1, at: .seconds(2)) == true)
        #expect(ledger.outstanding == 2)
        #expect(ledger.giveUp(lost) == 2)
        #expect(ledger.giveUp(lost) == 0)
        #expect(ledger.withdrawn(lost, by: 2, at: .seconds(2)) == false)
        #expect(ledger.outstanding == 0)
    }

    @Test func lostMessageMayReturnOnce() throws {
        var ledger = ledger(settlesBranches: true)
        let (lost, _) = try send(from: 0, &ledger)
        _ = ledger.received(lost, by: 1)
        #expect(ledger.giveUp(lost) == 1)
        #expect(ledger.withdrawn(lost, by: 1, at: .seconds(2)) == false)
        #expect(ledger.restored(lost, by: 1) == false)
        let late = ledger.received(lost, by: 2)
        #expect(late.verdict == .inOrder && late.expectedSince == nil)
        #expect(ledger.received(lost, by: 1).verdict == .repeated)
        let (next, expected) = try send(from: 0, &ledger)
        #expect(expected == 2)
        for member in [1, 2] { #expect(ledger.received(next, by: member).verdict == .inOrder) }
        #expect(ledger.outstanding == 0)
    }

    @Test func repeatedJoinExcusesEarlierDeliveries() throws {
        var ledger = ledger()
        let (lost, _) = try send(from: 0, &ledger)
        #expect(ledger.joined(2) == 1)
        #expect(ledger.outstanding == 1)
        let (stamp, expected) = try send(from: 0, &ledger)
        #expect(expected == 2)
        #expect(ledger.received(stamp, by: 2).expectedSince == times)
        #expect(ledger.received(lost, by: 2).expectedSince == nil)
        for message in [lost, stamp] { #expect(ledger.received(message, by: 1).expectedSince == times) }
        #expect(ledger.outstanding == 0)
    }

    /// It cannot send withdrawn messages again.
    @Test func removedSenderNeedNotDeliver() throws {
        var ledger = ledger(settlesBranches: true)
        let (sent, _) = try send(from: 1, &ledger)
        _ = ledger.received(sent, by: 0)
        let (lost, _) = try send(from: 1, &ledger)
        ledger.markSent(lost)
        #expect(ledger.beginLeave(1) == 3)
        #expect(ledger.withdrawn(sent, by: 0, at: .seconds(2)) == false)
        #expect(ledger.left(1) == 0)
        #expect(ledger.outstanding == 0 && ledger.members == [0, 2])
    }

    @Test func newMemberExpectsNoEarlierMessages() throws {
        var ledger = ledger()
        let (stamp, _) = try send(from: 0, &ledger)
        ledger.invited(3)
        ledger.adding([3])
        ledger.learned(0, of: [3])
        ledger.joined(3)
        #expect(ledger.received(stamp, by: 3).expectedSince == nil)
        #expect(ledger.send(from: 0, times)?.expected == 3)
        #expect(ledger.send(from: 3, times)?.expected == 3)
    }

    /// A joiner cannot read messages of the epoch before its own.
    @Test func sendersReachOnlyMembersTheyKnow() throws {
        var ledger = ledger()
        ledger.invited(3)
        ledger.adding([3])
        ledger.joined(3)
        #expect(ledger.send(from: 1, times)?.expected == 2)
        ledger.learned(1, of: [3])
        #expect(ledger.send(from: 1, times)?.expected == 3)
        // Added again, as a member of a later epoch.
        _ = ledger.left(3)
        ledger.invited(3)
        ledger.adding([3])
        ledger.joined(3)
        #expect(ledger.send(from: 1, times)?.expected == 2)
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

    @Test func leavingSenderMayNotRepeatWithdrawnMessages() throws {
        var ledger = GroupLedger(number: 0, founder: 0, settlesBranches: true)
        ledger.adding([0, 1, 2])
        for member in 0...2 { ledger.joined(member) }
        let (stamp, _) = try send(from: 1, &ledger)
        ledger.markSent(stamp)
        _ = ledger.received(stamp, by: 0)
        #expect(ledger.beginLeave(1) == 1)
        #expect(ledger.withdrawn(stamp, by: 0, at: .seconds(2)) == false)
        #expect(ledger.outstanding == 0)
        #expect(ledger.received(stamp, by: 0).verdict == .late)
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

    @Test func forgottenNumbersMayArriveAgain() {
        var tracker = SequenceTracker()
        for number in [5, 6, 4] { _ = tracker.note(number) }
        for number in [6, 4] {
            let (first, second) = (tracker.forget(number), tracker.forget(number))
            #expect(first && !second)
            #expect(tracker.note(number) == .late)
        }
        let never = tracker.forget(9)
        #expect(!never)
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

struct RecentMessagesTests {
    @Test func keepsOnlyTheLatest() throws {
        var messages = RecentMessages<MessageStamp>()
        func id(_ number: Int) throws -> EventID {
            let digits = String(number, radix: 16)
            return try EventID(hex: String(repeating: "0", count: 64 - digits.count) + digits)
        }
        for number in 0...20_000 {
            messages.note(MessageStamp(sender: 1, sequence: number), of: try id(number))
        }
        #expect(try messages[id(0)] == nil)
        #expect(try messages[id(1)]?.sequence == 1)
        #expect(try messages[id(20_000)]?.sequence == 20_000)
    }
}
