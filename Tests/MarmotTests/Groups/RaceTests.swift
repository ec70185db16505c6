import MLS
import Nostr
import Testing

@testable import Marmot

/// Early events and competing commits (docs/protocol/marmot.md §5.7, §5.8).
struct RaceTests {
    // MARK: Early events

    @Test func nextEpochMessageWaitsForItsCommit() throws {
        var lab = try Lab(3)
        let commit = try lab.commit(.selfUpdate, by: 0)
        _ = try lab.groups[0].mergePending()
        let message = try lab.say("next", from: 0)
        let before = lab.groups[1].contents
        #expect(lab.deliver(message, to: 1).label == "waiting/no_key")
        #expect(lab.groups[1].contents == before)
        #expect(lab.deliver(commit, to: 1).label == "commit")
        #expect(lab.deliver(message, to: 1).message?.rumor.content == "next")
    }

    @Test func futureEpochUnderOldKeyWaits() throws {
        var lab = try Lab(3)
        let commit = try lab.commit(.selfUpdate, by: 0)
        _ = try lab.groups[0].mergePending()
        let message = try lab.groups[0].mls.protect(lab.rumor("next", from: 0).rumorJSON(), using: &lab.rng)
        let event = try lab.wrap(message, from: 1)
        #expect(lab.deliver(event, to: 1).label == "waiting/future_epoch")
        #expect(lab.deliver(commit, to: 1).label == "commit")
        #expect(lab.deliver(event, to: 1).label == "message")
    }

    @Test func commitWaitsForItsProposal() throws {
        var lab = try Lab(3)
        let leave = try lab.propose(.selfRemove, by: 2, wireFormat: .publicMessage)
        #expect(lab.deliver(leave, to: 0).label == "proposal/commit_due")
        let commit = try lab.commit(.commitDepartures, by: 0)
        _ = try lab.groups[0].mergePending()
        let before = lab.groups[1].contents
        #expect(lab.deliver(commit, to: 1).label == "waiting/missing_proposal")
        #expect(lab.groups[1].contents == before)
        #expect(lab.deliver(leave, to: 1).label == "proposal/commit_due")
        for member in 1...2 { #expect(lab.deliver(commit, to: member).label == "commit") }
        try lab.expectAgreement()
    }

    @Test func repeatedCommitChangesNothing() throws {
        var lab = try Lab(3)
        let commit = try lab.commit(.selfUpdate, by: 0)
        #expect(lab.deliver(commit, to: 0).label == "ownCommit")
        _ = try lab.groups[0].mergePending()
        #expect(lab.deliver(commit, to: 0).label == "ownEcho")
        #expect(lab.deliver(commit, to: 1).label == "commit")
        let before = lab.groups[1].contents
        #expect(lab.deliver(commit, to: 1).label == "refused/duplicate")
        #expect(lab.groups[1].contents == before)
        #expect(lab.deliver(commit, to: 2).label == "commit")
        try lab.expectAgreement()
    }

    // MARK: Two commits for one epoch

    /// The order of events in one race.
    struct Race: CustomTestStringConvertible, Sendable {
        /// Whether member 0's commit is the better one, and whether only the ids decide.
        let firstWins: Bool
        let sameTime: Bool
        /// Whether the authors merge their own commit before the other one arrives.
        let firstMerges: Bool
        let secondMerges: Bool
        /// Whether member 2 gets member 0's commit first.
        let firstArrivesFirst: Bool

        static let all: [Race] = (0..<32).map { bits in
            Race(
                firstWins: bits & 1 != 0, sameTime: bits & 2 != 0, firstMerges: bits & 4 != 0,
                secondMerges: bits & 8 != 0, firstArrivesFirst: bits & 16 != 0)
        }

        var testDescription: String {
            "\(self.firstWins ? "0" : "1") wins\(self.sameTime ? " by id" : ""), merged: "
                + "\(self.firstMerges ? "0" : "")\(self.secondMerges ? "1" : ""), "
                + "\(self.firstArrivesFirst ? "0" : "1") arrives first"
        }
    }

    /// Two competing commits of members 0 and 1.
    private func compete(_ lab: inout Lab, _ race: Race) throws -> [Event] {
        let now = lab.now
        for _ in 0..<64 {
            lab.now = now + (race.sameTime || race.firstWins ? 0 : 5)
            var data = lab.groups[0].data
            data.name = "by 0"
            let first = try lab.commit(.update(data), by: 0)
            lab.now = now + (race.sameTime || !race.firstWins ? 0 : 5)
            data.name = "by 1"
            let second = try lab.commit(.update(data), by: 1)
            lab.now = now + 5
            if (CommitOrder(first) < CommitOrder(second)) == race.firstWins { return [first, second] }
            // At equal times, repeats both commits until the intended winner has the smaller id.
            lab.groups[0].clearPending()
            lab.groups[1].clearPending()
        }
        throw CancellationError()
    }

    @Test(arguments: Race.all)
    func membersConvergeOnTheBetterCommit(race: Race) throws {
        var lab = try Lab(3, admins: [0, 1])
        let events = try self.compete(&lab, race)
        let winner = race.firstWins ? 0 : 1
        let loser = 1 - winner
        for (member, merges) in [(0, race.firstMerges), (1, race.secondMerges)] where merges {
            _ = try lab.groups[member].mergePending()
        }
        // The winner's author sees the losing commit.
        let atWinner = lab.deliver(events[loser], to: winner)
        if lab.groups[winner].pending != nil {
            #expect(atWinner.label == "waiting/own_commit_pending")
            _ = try lab.groups[winner].mergePending()
            #expect(lab.deliver(events[loser], to: winner).label == "refused/lost_race")
        } else {
            #expect(atWinner.label == "refused/lost_race")
        }
        // The loser's author sees the winning one.
        let merged = lab.groups[loser].pending == nil
        let report = try #require(lab.deliver(events[winner], to: loser).report)
        #expect(report.displacedOwnCommit == !merged && report.rolledBackFrom == (merged ? 2 : nil))
        #expect(lab.groups[loser].pending == nil)
        #expect(lab.deliver(events[loser], to: loser).label == "refused/lost_race")
        // A third party gets both, in either order.
        let order = race.firstArrivesFirst ? [0, 1] : [1, 0]
        #expect(lab.deliver(events[order[0]], to: 2).label == "commit")
        if order[0] == winner {
            #expect(lab.deliver(events[loser], to: 2).label == "refused/lost_race")
        } else {
            #expect(lab.deliver(events[winner], to: 2).report?.rolledBackFrom == 2)
        }
        for group in lab.groups { #expect(group.epoch == 2 && group.data.name == "by \(winner)") }
        try lab.expectAgreement()
        try lab.change(.selfUpdate, by: 2)
        try lab.expectAgreement()
    }

    @Test func rollsBackSeveralEpochsForBetterCommit() throws {
        var lab = try Lab(4, admins: [0, 1])
        lab.now += 10
        var losing = lab
        let better = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        // Members 0, 2 and 3 advanced by three epochs after a later commit.
        losing.now += 1
        let events = try (0..<3).map { _ in
            let event = try losing.commit(.selfUpdate, by: 0)
            _ = try losing.groups[0].mergePending()
            return event
        }
        for event in events { for member in 2...3 { #expect(losing.deliver(event, to: member).label == "commit") } }
        _ = try losing.commit(.selfUpdate, by: 2)
        losing.groups[1] = lab.groups[1]
        for member in [0, 2, 3] {
            let report = try #require(losing.deliver(better, to: member).report)
            #expect(report.rolledBackFrom == 4 && report.epochBefore == 1 && report.epochAfter == 2)
            #expect(report.displacedOwnCommit == (member == 2))
        }
        try losing.expectAgreement()
        for event in events { #expect(losing.deliver(event, to: 3).label != "commit") }
    }

    @Test func unauthorizedBetterCommitRollsBackNothing() throws {
        var lab = try Lab(4)
        let victim = lab.groups[3].mls.ownLeafIndex
        let forged = try lab.forge(by: 1) { $0.removing = [victim] }
        lab.now += 5
        try lab.change(.selfUpdate, by: 0)
        for member in [0, 2, 3] {
            let before = lab.groups[member].contents
            #expect(lab.deliver(forged, to: member).label == "refused/not_admin")
            #expect(lab.groups[member].contents == before && lab.groups[member].snapshots.count == 1)
        }
        try lab.expectAgreement()
    }

    @Test func keepsOwnCommitAgainstUnauthorizedOne() throws {
        var lab = try Lab(3)
        let victim = lab.groups[2].mls.ownLeafIndex
        let forged = try lab.forge(by: 1) { $0.removing = [victim] }
        lab.now += 5
        let own = try lab.commit(.selfUpdate, by: 0)
        #expect(lab.deliver(forged, to: 0).label == "refused/not_admin")
        #expect(lab.groups[0].pending?.event.id == own.id)
    }

    /// The branch is kept because the losing commit's author and followers may be the only active members.
    @Test func keepsBranchOfLosingCommit() throws {
        var lab = try Lab(3, admins: [0, 1])
        let better = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        lab.now += 5
        let worse = try lab.commit(.selfUpdate, by: 0)
        _ = try lab.groups[0].mergePending()
        #expect(lab.deliver(worse, to: 2).label == "commit")
        let losing = lab.groups[0].mls.epochAuthenticator
        // Member 2 followed the losing commit at first, member 1 never did.
        #expect(lab.deliver(better, to: 2).label == "commit")
        #expect(lab.deliver(worse, to: 1).label == "refused/lost_race")
        for member in 1...2 {
            let abandoned = lab.groups[member].popAbandoned()
            var branch = try #require(abandoned)
            #expect(branch.epoch == 2 && branch.mls.epochAuthenticator == losing && branch.parts.isEmpty)
            let message = try lab.say("on the branch that lost", from: 0)
            #expect(branch.ingest(message, now: lab.now).message?.rumor.content == "on the branch that lost")
            let again = lab.groups[member].popAbandoned()
            #expect(again == nil)
        }
        #expect(lab.deliver(better, to: 0).label == "commit")
        try lab.expectAgreement()
    }

    /// Anyone can sign the same ciphertext again with an earlier time, even without being a member.
    @Test func rewrappedCommitRollsBackNothing() throws {
        var lab = try Lab(3, admins: [0, 1])
        let commit = try lab.commit(.selfUpdate, by: 0)
        _ = try lab.groups[0].mergePending()
        for member in 1...2 { _ = lab.deliver(commit, to: member) }
        try lab.change(.selfUpdate, by: 1)
        let copy = lab.rewrap(commit, at: lab.now - 100)
        let before = lab.groups[2].mls.records
        for member in [0, 2] { #expect(lab.deliver(copy, to: member).label == "refused/duplicate") }
        #expect(lab.groups[2].mls.records == before && lab.groups[2].epoch == 3)
        try lab.expectAgreement()
        // From then on, the commit has the earlier time.
        #expect(lab.groups[2].snapshots.first?.order == CommitOrder(copy))
    }

    @Test func messageOpensOnceAcrossRollbacks() throws {
        var lab = try Lab(3, admins: [0, 1])
        let early = try lab.say("while a commit is pending", from: 2)
        let late = try lab.say("after it", from: 2)
        let better = try lab.commit(.selfUpdate, by: 1)
        lab.now += 5
        _ = try lab.commit(.selfUpdate, by: 0)
        #expect(lab.deliver(early, to: 0).label == "message")
        _ = try lab.groups[0].mergePending()
        #expect(lab.deliver(lab.rewrap(early), to: 0).label == "refused/key_consumed")
        #expect(lab.deliver(late, to: 0).label == "message")
        #expect(lab.deliver(better, to: 0).report?.rolledBackFrom == 2)
        for event in [early, late] { #expect(lab.deliver(lab.rewrap(event), to: 0).label == "refused/key_consumed") }
        _ = try lab.groups[1].mergePending()
        #expect(lab.deliver(better, to: 2).label == "commit")
        try lab.expectAgreement()
    }

    /// A member that signs two commits for one epoch can use the same message key for both.
    @Test func betterCommitMayReuseTheKey() throws {
        var lab = try Lab(4)
        let late = try lab.forge(by: 3) { $0.removing = [] }
        lab.now -= 5
        var author = lab.groups[3].mls
        let commit = try author.commit(CommitRequest(), using: &lab.rng)
        let early = try lab.wrap(commit.message, from: 3)
        lab.now += 5
        #expect(lab.deliver(late, to: 1).label == "commit")
        #expect(lab.deliver(early, to: 1).report?.rolledBackFrom == 2)
        #expect(lab.deliver(early, to: 2).label == "commit")
        #expect(lab.deliver(late, to: 2).label == "refused/lost_race")
        #expect(
            lab.groups[1].mls.epochAuthenticator == commit.next.epochAuthenticator
                && lab.groups[2].mls.epochAuthenticator == commit.next.epochAuthenticator)
        // Receiving the first commit again changes nothing.
        #expect(lab.deliver(lab.rewrap(late), to: 1).label == "refused/lost_race")
    }

    /// A stranger makes a losing commit win by wrapping it in an event with an earlier time.
    @Test func ownCommitWinsInAnothersWrapper() throws {
        var lab = try Lab(3, admins: [0, 1])
        let better = try lab.commit(.selfUpdate, by: 1)
        lab.now += 5
        let loser = try lab.commit(.selfUpdate, by: 0)
        _ = try lab.groups[1].mergePending()
        // Its author still has it pending, and waits for a relay's answer first.
        #expect(lab.deliver(lab.rewrap(loser), to: 0).label == "waiting/own_commit_pending")
        #expect(lab.deliver(better, to: 0).label == "commit")
        #expect(lab.deliver(better, to: 2).label == "commit")
        #expect(lab.deliver(lab.rewrap(loser), to: 0).label == "refused/lost_race")
        let copy = lab.rewrap(loser, at: lab.now - 10)
        for member in [1, 2] { #expect(lab.deliver(copy, to: member).report?.rolledBackFrom == 2) }
        #expect(lab.deliver(copy, to: 0).label == "ownCommit")
        #expect(try lab.groups[0].mergePending().report.rolledBackFrom == 2)
        try lab.expectAgreement()
    }

    @Test func mergedCommitWinsInAnothersWrapper() throws {
        var lab = try Lab(3, admins: [0, 1])
        let better = try lab.commit(.selfUpdate, by: 1)
        lab.now += 5
        let loser = try lab.commit(.selfUpdate, by: 0)
        _ = try lab.groups[0].mergePending()
        #expect(lab.deliver(loser, to: 0).label == "ownEcho")
        _ = try lab.groups[1].mergePending()
        #expect(lab.deliver(loser, to: 2).label == "commit")
        for member in [0, 2] { #expect(lab.deliver(better, to: member).report?.rolledBackFrom == 2) }
        #expect(lab.deliver(loser, to: 0).label == "refused/lost_race")
        let copy = lab.rewrap(loser, at: lab.now - 10)
        for member in [1, 2] { #expect(lab.deliver(copy, to: member).report?.rolledBackFrom == 2) }
        #expect(lab.deliver(copy, to: 0).label == "ownCommit")
        #expect(try lab.groups[0].mergePending().report.rolledBackFrom == 2)
        try lab.expectAgreement()
        #expect(lab.deliver(copy, to: 0).label == "ownEcho")
    }

    @Test func undoesLosingRemoval() throws {
        var lab = try Lab(3, admins: [0, 1])
        let better = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        lab.now += 5
        let removal = try lab.commit(.remove([lab.keys[2].publicKey]), by: 0)
        _ = try lab.groups[0].mergePending()
        #expect(lab.deliver(removal, to: 2).report?.removedSelf == true)
        #expect(!lab.groups[2].isActive)
        for member in [0, 2] { #expect(lab.deliver(better, to: member).label == "commit") }
        #expect(lab.groups[2].isActive)
        try lab.expectAgreement()
    }

    @Test func betterCommitUsesLateProposal() throws {
        var lab = try Lab(4, admins: [0, 1])
        let leave = try lab.propose(.selfRemove, by: 3, wireFormat: .publicMessage)
        _ = lab.deliver(leave, to: 0)
        let better = try lab.commit(.commitDepartures, by: 0)
        _ = try lab.groups[0].mergePending()
        lab.now += 5
        let worse = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        #expect(lab.deliver(worse, to: 2).label == "commit")
        for member in 1...2 {
            #expect(lab.deliver(better, to: member).label == "waiting/missing_proposal")
            #expect(lab.deliver(leave, to: member).label == "proposal/ignored")
            #expect(lab.deliver(better, to: member).report?.rolledBackFrom == 2)
        }
        #expect(lab.deliver(better, to: 3).label == "commit")
        try lab.expectAgreement()
    }

    @Test func boundsSnapshots() throws {
        var lab = try Lab(3)
        for _ in 0..<12 { try lab.change(.selfUpdate, by: 0) }
        for group in lab.groups {
            #expect(group.snapshots.map(\.epoch) == [8, 9, 10, 11, 12] && group.outerKeys.count == 6)
        }
        let old = try lab.forge(by: 1) { _ in }
        for _ in 0..<6 { try lab.change(.selfUpdate, by: 0) }
        #expect(lab.deliver(lab.rewrap(old, at: lab.now - 50), to: 2).label == "waiting/no_key")
    }

    @Test func refusesProposalOfForgottenEpoch() throws {
        var lab = try Lab(3)
        let proposal = try lab.propose(.selfRemove, by: 2, wireFormat: .publicMessage)
        try lab.change(.selfUpdate, by: 0)
        lab.groups[1].snapshots = []
        #expect(lab.deliver(proposal, to: 1).label == "refused/past_epoch")
    }
}
