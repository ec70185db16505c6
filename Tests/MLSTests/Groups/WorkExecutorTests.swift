import Synchronization
import Testing

@testable import MLS

/// Joining and committing with an executor of the caller's: results are those of serial work.
@Suite struct WorkExecutorTests {
    /// Claims some processors, runs the pieces in reverse order, and counts them.
    private final class Backwards: WorkExecutor {
        let width: Int
        let pieces = Mutex(0)

        init(width: Int = 4) {
            self.width = width
        }

        func map<Result: Sendable>(_ count: Int, _ body: @Sendable (Int) -> Result) -> [Result] {
            self.pieces.withLock { $0 += count }
            return (0..<count).reversed().map(body).reversed()
        }
    }

    @Test func keepsTheOrderOfElements() {
        for width in [1, 2, 3, 4, 64, 1_000] {
            let work = Backwards(width: width)
            for count in Array(0...40) + [100, 129, 600, 999] {
                #expect(work.map(Array(0..<count)) { $0 * 2 } == (0..<count).map { $0 * 2 })
            }
        }
        #expect(SerialWork().map(Array(0..<40)) { $0 } == Array(0..<40))
    }

    @Test func reportsTheFirstError() {
        let found = Backwards().firstError(in: Array(0..<100)) { number throws(MLSError) in
            if number.isMultiple(of: 30), number > 0 { throw MLSError(.malformed, "\(number)") }
        }
        #expect(found?.message == "30")
        #expect(Backwards().firstError(in: Array(0..<100)) { (_: Int) throws(MLSError) in } == nil)
    }

    @Test func commitDoesNotDependOnExecutor() throws {
        var party = try Party(40)
        var request = CommitRequest()
        request.adding = try (0..<20).map { try party.verifiedPackage("new \($0)") }
        let work = Backwards()
        var (one, other, rng, sameRNG) = (party.members[0], party.members[0], party.rng, party.rng)
        let serial = try one.commit(request, using: &rng)
        let parallel = try other.commit(request, using: &sameRNG, work: work)
        #expect(serial.message == parallel.message && serial.welcome == parallel.welcome)
        #expect(work.pieces.withLock { $0 } > 4)
    }

    @Test func joinsAndRefusesAsSerially() throws {
        var party = try Party(30)
        let bundle = try party.bundle("new")
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        let pending = try party.members[0].commit(request, using: &party.rng)
        guard case .welcome(let welcome) = try MLSMessage(#require(pending.welcome)) else {
            throw MLSError(.malformed, "not a Welcome")
        }
        let work = Backwards()
        let joined = try MLSGroup.join(welcome, with: bundle, work: work)
        #expect(joined.epochAuthenticator == pending.next.epochAuthenticator)
        #expect(work.pieces.withLock { $0 } > 1)
        var tree = pending.next.tree
        let leaf = try #require(tree.leaf(LeafIndex(rawValue: 17)))
        tree.set(.leaf(leaf), at: LeafIndex(rawValue: 18).node)
        for executor: any WorkExecutor in [SerialWork(), work] {
            expectError(.invalidTree) {
                var tree = tree
                try tree.validate(groupID: joined.groupID, extensions: joined.extensions, with: executor)
            }
        }
    }
}
