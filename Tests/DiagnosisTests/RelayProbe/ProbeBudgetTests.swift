import Testing

@testable import Diagnosis

struct ProbeBudgetTests {
    @Test func boundsEveryStepByTheEnd() {
        let now = ContinuousClock.now  // not live: an origin of computed instants
        let plenty = ProbeBudget(.seconds(3_600), step: .seconds(5), from: now)
        #expect(plenty.deadline < now + .seconds(3_600))
        #expect(plenty.lastDeadline < now + .seconds(3_600))
        #expect(!plenty.isSpent)
        let short = ProbeBudget(.seconds(60), step: .seconds(600), from: now)
        #expect(short.deadline == now + .seconds(60))
        #expect(short.lastDeadline == now + .seconds(60))
        #expect(short.limit <= .seconds(60))
    }

    @Test func reservesTimeForTheLastStep() {
        let now = ContinuousClock.now  // not live: an origin of computed instants
        let spent = ProbeBudget(.seconds(60), step: .seconds(5), reserve: .seconds(60), from: now)
        #expect(spent.isSpent && spent.limit == .zero)
        #expect(spent.deadline == now)
        #expect(spent.lastDeadline == now + .seconds(60))
        let over = ProbeBudget(.seconds(-60), step: .seconds(5), reserve: .seconds(1), from: now)
        #expect(over.lastDeadline == now - .seconds(60))
    }
}
