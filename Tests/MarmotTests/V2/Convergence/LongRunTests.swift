import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// Long series of forks, in the forms after which members with MDK 0.9.14 stall, and the limits of one pass.
struct LongRunTests {
    /// Two branches of a depth; returns the first commits of both after the lower account's branch was selected.
    private static func fork(_ member: inout FakeMember, depth: Int) {
        var (low, high) = (member.point, member.point)
        for _ in 0..<depth {
            let commits = [FakeMember.commit(on: low, by: 1), FakeMember.commit(on: high, by: 2)]
            member.receive(commits[1], commits[0])
            (low, high) = (FakeMember.point(after: commits[0]), FakeMember.point(after: commits[1]))
        }
        member.settle()
    }

    private static func advance(_ member: inout FakeMember, by count: Int) {
        for _ in 0..<count {
            let before = member.point.epoch
            member.receive(FakeMember.commit(on: member.point, by: 3))
            member.settle()
            #expect(before.isFollowed(by: member.point.epoch))
        }
    }

    /// A departure and its commit, one to three commits after a fork, and further commits.
    @Test(arguments: [false, true]) func departuresAfterForksDoNotStall(_ restarts: Bool) throws {
        var member = FakeMember()
        for round in 0..<50 {
            Self.fork(&member, depth: 1)
            Self.advance(&member, by: round % 4)
            let proposal = FakeMember.proposal(at: member.point, by: 4, "leave \(round)")
            let commit = FakeMember.commit(on: member.point, by: 3, "update", proposals: [proposal.id])
            member.receive(proposal, commit)
            if restarts { try member.restart(omittingDerivable: true) }
            member.settle()
            #expect(member.point == FakeMember.point(after: commit), "round \(round)")
            #expect(member.machine.disposition(of: proposal.id) == .accepted)
            if restarts { try member.restart(omittingDerivable: true) }
            Self.advance(&member, by: 2 + round % 5)
        }
        #expect(member.machine.status == .settled && member.halts.isEmpty)
    }

    /// Forks of depth 2, then commits until only the second commit of the loser is within reach.
    @Test func deepForksDoNotStall() throws {
        var member = FakeMember()
        for round in 0..<50 {
            let before = member.point.epoch
            Self.fork(&member, depth: 2)
            Self.advance(&member, by: 5)
            if round % 3 == 0 { try member.restart(omittingDerivable: true) }
            Self.advance(&member, by: round % 3)
            #expect(member.point.epoch == before.later(by: 7 + round % 3))
            #expect(member.moves.allSatisfy { $0.undone.isEmpty })
        }
    }

    @Test func twoHundredForksKeepMemoryBounded() {
        var member = FakeMember()
        for _ in 0..<200 {
            Self.fork(&member, depth: 1)
            member.receive(FakeMember.message(at: member.point, by: 5))
            member.settle()
            #expect(member.machine.states.all.count <= 12)
            #expect(member.machine.inputs.commits.count <= 12 && member.machine.inputs.messages.count == 0)
        }
        #expect(member.point.epoch == 210 && member.deliveries.count == 200)
        #expect(member.machine.inputs.closed.entries.count < 40)
    }

    @Test func departuresWaitForFiveEpochs() {
        var member = FakeMember()
        #expect(member.machine.mayLeaveNow && member.machine.mayCommitDepartures(of: 10))
        Self.fork(&member, depth: 1)
        // Directly after the fork nobody stalls.
        #expect(member.machine.epochsUntilSafeDeparture == 0 && member.machine.mayLeaveNow)
        #expect(member.machine.mayCommitDepartures(of: 11) && !member.machine.awaitsSafeDeparture)
        Self.advance(&member, by: 1)
        for remaining in [3, 2, 1] {
            #expect(member.machine.awaitsSafeDeparture && member.machine.mayRemoveLeavers(of: member.point.epoch))
            #expect(member.machine.epochsUntilSafeDeparture == remaining && !member.machine.mayLeaveNow)
            Self.advance(&member, by: 1)
        }
        #expect(member.point.epoch == 15 && member.machine.epochsUntilSafeDeparture == 0)
        #expect(member.machine.mayLeaveNow && member.machine.mayCommitDepartures(of: 15))
        #expect(!member.machine.mayCommitDepartures(of: 14))
        member.receive(FakeMember.commit(on: member.point, by: 3))
        #expect(!member.machine.mayLeaveNow && !member.machine.mayCommitDepartures(of: 15))
    }

    // MARK: Budget

    @Test func budgetFollowsTheFormula() {
        #expect(BranchSearch<FakeState>.budget(commitCount: 0) == 32)
        #expect(BranchSearch<FakeState>.budget(commitCount: 25) == 632)
        #expect(BranchSearch<FakeState>.budget(commitCount: .max) == .max)
    }

    /// Commits of 64 branches, each of which must be tried on nearly all: too many for one pass, not for two.
    @Test func exhaustedPassesGoOnLater() {
        var member = FakeMember()
        let first = (0..<64).map { FakeMember.commit(on: FakeMember.root, by: 1, "update \($0)") }
            .sorted { $0.id < $1.id }
        let last = first[63]
        let second = (0..<64).map { FakeMember.commit(on: FakeMember.point(after: last), by: 2, "update \($0)") }
        for commit in first + second { member.receive(commit) }
        member.wait(1000)
        #expect(member.reports.map(\.failure) == [.budgetExceeded])
        #expect(member.point == FakeMember.root && member.machine.status == .blocked(.budgetExceeded))
        #expect(member.machine.disposition(of: last.id) == .collected)
        member.settle()
        #expect(member.reports.count == 2 && member.reports.last?.failure == nil)
        #expect(member.point.epoch == 12 && second.contains { $0.id == member.point.id })
        #expect(member.machine.status == .settled)
        let applications = member.reports.map(\.applications).reduce(0, +)
        #expect(applications == 64 + 64 * 64)
    }

    @Test func twentyFiveRivalsAreAppliedOnce() {
        var member = FakeMember()
        for number in 0..<25 { member.receive(FakeMember.commit(on: FakeMember.root, by: 1, "update \(number)")) }
        member.settle()
        member.receive(FakeMember.commit(on: member.point, by: 2))
        member.settle()
        #expect(member.reports.map(\.applications) == [25, 1])
        #expect(member.point.epoch == 12)
    }
}
