import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

/// The bookkeeping beside groups of the second generation, and its stored forms.
@Suite struct SettlementTests {
    private let groupID = GroupID([1, 2, 3])

    private func bytes(_ byte: UInt8) throws -> Bytes32 { try #require(Bytes32([UInt8](repeating: byte, count: 32))) }

    private func memos(_ step: CoreStep) -> [MemoName: Secret] {
        var memos: [MemoName: Secret] = [:]
        for case .putMemo(let name, let content) in step.changes { memos[name] = content }
        return memos
    }

    private func restored(_ step: CoreStep) -> Settlement {
        var settlement = Settlement()
        for (name, memo) in self.memos(step) {
            let isReadable = settlement.restore(name, memo)
            #expect(isReadable)
        }
        return settlement
    }

    @Test func carriersSurviveRestart() throws {
        var step = CoreStep.at(0)
        var settlement = Settlement()
        let event = CarrierEvent(id: try .of(7), createdAt: -5, epoch: 9)
        settlement.put(event, of: try self.bytes(1), in: self.groupID, &step)
        let later = CarrierEvent(id: try .of(8), createdAt: 5, epoch: 10)
        settlement.put(later, of: try self.bytes(2), in: self.groupID, &step)
        #expect(try self.restored(step).event(of: self.bytes(1), in: self.groupID) == event)
        settlement.prune(self.groupID, before: 10, &step)
        let after = self.restored(step)
        #expect(try after.event(of: self.bytes(1), in: self.groupID) == nil)
        #expect(try after.event(of: self.bytes(2), in: self.groupID) == later)
    }

    @Test func carriersOfForgottenMessagesAreForgotten() throws {
        var step = CoreStep.at(0)
        var settlement = Settlement()
        let (kept, forgotten) = (try self.bytes(1), try self.bytes(2))
        for id in [kept, forgotten] {
            settlement.put(
                CarrierEvent(id: try .of(7), createdAt: 5, epoch: 9), of: id, in: self.groupID, &step)
        }
        settlement.prune(self.groupID, keeping: { $0 == kept }, &step)
        let after = self.restored(step)
        #expect(after.event(of: kept, in: self.groupID) != nil && after.event(of: forgotten, in: self.groupID) == nil)
    }

    @Test func tombstonesStay() throws {
        var step = CoreStep.at(0)
        var settlement = Settlement()
        settlement.noteDisbanded(self.groupID, &step)
        settlement.reset(self.groupID, &step)
        #expect(self.restored(step).disbanded == [self.groupID])
    }

    @Test func earlierTimerSchedulesNext() {
        var step = CoreStep.at(0)
        var settlement = Settlement()
        for deadline: Int64? in [1000, 2000, 500, nil] { settlement.schedule(self.groupID, at: deadline, &step) }
        let times = step.effects.compactMap { if case .wakeMonotonic(_, let time) = $0 { time } else { nil } }
        #expect(times == [1000, 500])
        settlement.endWake(of: self.groupID)
        settlement.schedule(self.groupID, at: 2000, &step)
        #expect(step.effects.count == 3)
    }

    @Test func withdrawalsSurviveRestart() throws {
        var step = CoreStep.at(0)
        var settlement = Settlement()
        let points = [try self.bytes(1), try self.bytes(2)]
        settlement.withdrawals.begin(points, isRestored: false, of: self.groupID, &step)
        settlement.withdrawals.begin([points[0]], isRestored: true, of: self.groupID, &step)
        settlement.withdrawals.noteGone([try .of(3)], of: self.groupID, &step)
        var after = self.restored(step)
        #expect(after.withdrawals.groups == [self.groupID])
        let first = try #require(after.withdrawals.task(points, of: self.groupID))
        #expect(!first.task.isRestored && first.reverted == [points[0]])
        after.withdrawals.end(points, of: self.groupID, isWaiting: false, &step)
        after.withdrawals.end([points[0]], of: self.groupID, isWaiting: false, &step)
        #expect(after.withdrawals.groups.isEmpty)
        let id: EventID = try .of(3)
        let returns = [
            after.withdrawals.revive([id], of: self.groupID, &step),
            after.withdrawals.revive([id], of: self.groupID, &step),
        ]
        #expect(returns == [[id], []])
        #expect(self.memos(step).isEmpty)
    }

    @Test func repeatedSendingIsBounded() throws {
        var step = CoreStep.at(0)
        var settlement = Settlement()
        let ids: [EventID] = [try .of(3), try .of(4)]
        for _ in 0..<Withdrawals.maximumRepeats {
            let refused = settlement.withdrawals.countRepeats([ids[0]], in: 7, of: self.groupID, &step)
            #expect(refused.isEmpty)
        }
        var after = self.restored(step)
        let refused = after.withdrawals.countRepeats(ids, in: 7, of: self.groupID, &step)
        #expect(refused == [ids[0]])
        after.withdrawals.forgetRepeats(of: self.groupID, before: 8, &step)
        #expect(self.memos(step).isEmpty)
    }

    @Test func waitingTasksAreLoadedAgain() throws {
        var step = CoreStep.at(0)
        var withdrawals = Withdrawals()
        let points = [try self.bytes(1)]
        withdrawals.begin(points, isRestored: false, of: self.groupID, &step)
        step.effects = []
        withdrawals.resume(self.groupID, &step)
        #expect(step.effects.isEmpty)
        withdrawals.end(points, of: self.groupID, isWaiting: true, &step)
        withdrawals.resume(self.groupID, &step)
        #expect(step.effects == [.loadWithdrawn(groupID: self.groupID, points: points)])
    }

    @Test func announcementsFollowEachOther() throws {
        var step = CoreStep.at(0)
        var withdrawals = Withdrawals()
        let (one, two) = (try self.bytes(1), try self.bytes(2))
        withdrawals.begin([one, two], isRestored: false, of: self.groupID, &step)
        withdrawals.begin([one], isRestored: true, of: self.groupID, &step)
        #expect(step.effects == [.loadWithdrawn(groupID: self.groupID, points: [one, two])])
        step.effects = []
        withdrawals.end([one, two], of: self.groupID, isWaiting: false, &step)
        #expect(step.effects == [.loadWithdrawn(groupID: self.groupID, points: [one])])
        step.effects = []
        withdrawals.end([one], of: self.groupID, isWaiting: false, &step)
        #expect(step.effects.isEmpty && withdrawals.groups.isEmpty)
    }

    @Test func heldMessagesKeepTheirOrder() throws {
        var random = SplitMix64(seed: 3)
        let key = KeyPair.generate(using: &random).publicKey
        var step = CoreStep.at(0)
        var held = HeldMessages()
        for number in 0..<20 {
            let rumor = UnsignedEvent(
                pubkey: key, createdAt: 5, kind: .chatMessage, tags: [], content: "\(number)")
            try held.append(
                HeldMessage(rumor: rumor, purpose: .message, rowID: "row \(number)", request: .once("\(number)")),
                to: self.groupID, &step)
        }
        var settlement = self.restored(step)
        #expect(settlement.held.contains(row: "row 7") && settlement.held.requests.count == 20)
        for number in 0..<20 {
            let first = settlement.held.popFirst(of: self.groupID, &step)
            let message = try #require(first)
            #expect(message.rumor.content == "\(number)" && message.request == .once("\(number)"))
        }
        #expect(settlement.held.isEmpty(of: self.groupID) && self.memos(step).isEmpty)
    }

    @Test func tooManyHeldMessagesAreRefused() throws {
        var random = SplitMix64(seed: 3)
        let key = KeyPair.generate(using: &random).publicKey
        var step = CoreStep.at(0)
        var held = HeldMessages()
        let rumor = UnsignedEvent(pubkey: key, createdAt: 5, kind: .chatMessage, tags: [], content: "x")
        let message = HeldMessage(rumor: rumor, purpose: .message, rowID: nil)
        // A full group leaves room for others, up to the limit of the account.
        var count = 0
        for number: UInt8 in 1...3 {
            let group = GroupID([number])
            for _ in 0..<min(HeldMessages.groupLimit.events, HeldMessages.limit.events - count) {
                try held.append(message, to: group, &step)
                count += 1
            }
            #expect(throws: AppCoreError.self) { try held.append(message, to: group, &step) }
        }
        #expect(count == HeldMessages.limit.events)
        #expect(throws: AppCoreError.self) { try held.append(message, to: self.groupID, &step) }
    }

    @Test(arguments: [MemoName.Kind.carrierEvent, .withdrawal, .heldMessage])
    func unreadableMemosAreReported(kind: MemoName.Kind) {
        var settlement = Settlement()
        let isReadable = settlement.restore(MemoName(kind, [1]), Secret([0]))
        #expect(!isReadable)
    }
}
