import Testing

@testable import Load

struct GroupLedgerTests {
    private func ledger(_ members: [Int] = [0, 1, 2]) -> GroupLedger {
        var ledger = GroupLedger(number: 0, founder: 0)
        for member in members { ledger.joined(member) }
        return ledger
    }

    private let times = SendTimes(sent: .seconds(1))

    @Test func everyOtherMemberIsOwedAMessageOnce() {
        var ledger = ledger()
        let (stamp, owed) = ledger.send(from: 0, times)
        #expect((owed, ledger.outstanding) == (2, 2))
        let first = ledger.received(stamp, by: 1)
        #expect(first == .init(verdict: .inOrder, owedSince: times, isFirstForMember: true))
        let again = ledger.received(stamp, by: 1)
        #expect(again == .init(verdict: .repeated, owedSince: nil, isFirstForMember: false))
        #expect(ledger.outstanding == 1)
        #expect(ledger.received(stamp, by: 2).owedSince == times)
        #expect(ledger.outstanding == 0)
    }

    @Test func whoComesLaterIsOwedNothingOfBefore() {
        var ledger = ledger()
        let (stamp, _) = ledger.send(from: 0, times)
        ledger.invited(3)
        ledger.joined(3)
        #expect(ledger.received(stamp, by: 3).owedSince == nil)
        #expect(ledger.send(from: 0, times).owed == 3)
    }

    @Test func whoLeavesIsOwedNothingMore() {
        var ledger = ledger()
        let (stamp, _) = ledger.send(from: 0, times)
        #expect(ledger.leaves(1) == 1)
        #expect(ledger.leaves(1) == 0)
        #expect(ledger.outstanding == 1)
        #expect(ledger.received(stamp, by: 1).owedSince == nil)
        #expect(ledger.send(from: 0, times).owed == 1)
        #expect(ledger.members == [0, 2])
    }

    @Test func aMessageThatNeverWentOutIsOwedToNobody() {
        var ledger = ledger()
        let (stamp, _) = ledger.send(from: 0, times)
        #expect(ledger.withdraw(stamp) == 2)
        #expect(ledger.withdraw(stamp) == 0)
        #expect(ledger.outstanding == 0)
    }

    @Test func messagesOfASenderAreCountedOnThroughAll() {
        var ledger = ledger()
        #expect((0..<3).map { _ in ledger.send(from: 1, times).stamp.sequence } == [0, 1, 2])
        #expect(ledger.send(from: 2, times).stamp == MessageStamp(sender: 2, sequence: 0))
    }

    @Test func thereIsRoomForManyMembers() {
        var ledger = ledger(Array(0..<200))
        let (stamp, owed) = ledger.send(from: 7, times)
        #expect(owed == 199)
        for member in 0..<200 where member != 7 { _ = ledger.received(stamp, by: member) }
        #expect(ledger.outstanding == 0)
    }
}

struct SequenceTrackerTests {
    private func verdicts(_ numbers: Int...) -> [SequenceTracker.Verdict] {
        var tracker = SequenceTracker()
        return numbers.map { tracker.note($0) }
    }

    @Test func orderIsBySender() {
        #expect(verdicts(0, 1, 2) == [.inOrder, .inOrder, .inOrder])
        #expect(verdicts(0, 2, 1, 3) == [.inOrder, .inOrder, .late, .inOrder])
        #expect(verdicts(5, 6, 9) == [.inOrder, .inOrder, .inOrder])
    }

    @Test func repeatsAreFound() {
        #expect(verdicts(0, 0) == [.inOrder, .repeated])
        #expect(verdicts(0, 3, 1, 1, 2, 3) == [.inOrder, .inOrder, .late, .repeated, .late, .repeated])
        #expect(verdicts(5, 4, 4) == [.inOrder, .late, .repeated])
    }
}

struct MessageStampTests {
    @Test func aStampReadsBack() throws {
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
    func otherTextsAreNone(text: String) {
        #expect(MessageStamp(text) == nil)
    }
}
