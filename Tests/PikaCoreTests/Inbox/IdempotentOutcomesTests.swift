import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct IdempotentOutcomesTests {
    private func isNew(_ status: IdempotentOutcomes.Status) -> Bool { if case .new = status { true } else { false } }

    @Test func reportsStoredOutcomeAgain() {
        var (outcomes, step) = (IdempotentOutcomes(), CoreStep.at(0))
        let first = outcomes.begin(.once("a"))
        let second = outcomes.begin(.once("a"))
        #expect(self.isNew(first))
        guard case .inProgress = second else {
            Issue.record("expected the action to be in progress")
            return
        }
        outcomes.record(.done(chatID: "c"), of: .once("a"), &step)
        guard case .done(.done(chatID: "c")) = outcomes.begin(.once("a")) else {
            Issue.record("expected the outcome to be stored")
            return
        }
        #expect(step.changes.count == 1)
    }

    @Test func forgetsFailures() {
        var (outcomes, step) = (IdempotentOutcomes(), CoreStep.at(0))
        _ = outcomes.begin(.once("a"))
        outcomes.record(.failed(AppCoreError(.busy, "x")), of: .once("a"), &step)
        let status = outcomes.begin(.once("a"))
        #expect(self.isNew(status) && step.changes.isEmpty)
    }

    @Test func ordinaryRequestsAreAlwaysNew() {
        var outcomes = IdempotentOutcomes()
        let statuses = (0..<2).map { _ in outcomes.begin(RequestID(rawValue: "a")) }
        #expect(statuses.allSatisfy(self.isNew))
    }

    @Test func dropsOldestOutcomeBeyondCapacity() {
        var (outcomes, step) = (IdempotentOutcomes(), CoreStep.at(0))
        for number in 0...IdempotentOutcomes.capacity {
            outcomes.record(.done(chatID: ChatID(rawValue: "\(number)")), of: .once("\(number)"), &step)
        }
        #expect(outcomes.stored.count == IdempotentOutcomes.capacity)
        let status = outcomes.begin(.once("0"))
        #expect(self.isNew(status))
    }
}
