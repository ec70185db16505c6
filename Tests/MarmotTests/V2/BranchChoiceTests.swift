import MLS
import Nostr
import Testing

@testable import Marmot

/// The choice between branches, with the policy cases of MDK 0.9.14 and three recorded forks of MDK 0.11.0.
struct BranchChoiceTests {
    private static func account(_ byte: UInt8) throws -> PublicKey {
        try PublicKey(bytes: [UInt8](repeating: byte, count: 32))
    }

    /// Accounts of the policy cases, by their letters.
    private static let a: UInt8 = 0x61
    private static let z: UInt8 = 0x7A

    private static func branch(
        _ fork: UInt64, _ tip: UInt64, digest: UInt8 = 0, committer: UInt8 = 0x73,
        priority: BranchCandidate.Priority = .ordinary, witnesses: [UInt64: [UInt8]] = [:]
    ) throws -> BranchCandidate {
        var set: Set<BranchCandidate.Witness> = []
        for (epoch, accounts) in witnesses {
            for byte in accounts {
                set.insert(.init(epoch: Epoch(rawValue: epoch), account: try self.account(byte)))
            }
        }
        return BranchCandidate(
            fork: Epoch(rawValue: fork), tip: Epoch(rawValue: tip), priority: priority,
            committer: try self.account(committer),
            digest: try #require(Bytes32([digest] + [UInt8](repeating: 0, count: 31))), witnesses: set)
    }

    /// Expects the first branch to win by a rule, in both orders.
    private func expectWinner(
        _ winner: BranchCandidate, over other: BranchCandidate, by rule: BranchRule, base: Epoch,
        policy: ConvergencePolicy = .standard, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for candidates in [[winner, other], [other, winner]] {
            let choice = BranchChoice(among: candidates, base: base, policy: policy)
            #expect(choice?.winner == winner, sourceLocation: sourceLocation)
            #expect(choice?.rule == rule, sourceLocation: sourceLocation)
        }
    }

    private func policy(rewind: Int = 5, senders: Int, override bonus: Int) -> ConvergencePolicy {
        ConvergencePolicy(
            maximumRewind: rewind, witnessWindow: 5, quorumSenders: senders, quorumEpochs: 2, quorumBonus: bonus)
    }

    // MARK: Policy cases

    @Test func quorumOverridesDepth() throws {
        let online = try Self.branch(1, 4, digest: 0xFF, witnesses: [2: [1, 2, 3], 3: [1, 2, 3]])
        self.expectWinner(
            online, over: try Self.branch(1, 6), by: .quorum, base: 6, policy: self.policy(senders: 3, override: 2))
    }

    @Test func depthLimitsTheQuorum() throws {
        let online = try Self.branch(1, 4, digest: 0xFF, witnesses: [2: [1, 2, 3], 3: [1, 2, 3]])
        self.expectWinner(
            try Self.branch(1, 7), over: online, by: .depth, base: 7,
            policy: self.policy(rewind: 8, senders: 3, override: 2))
    }

    @Test func depthPrecedesWitnesses() throws {
        let chatty = try Self.branch(0, 3, witnesses: [2: [1, 2, 3]])
        self.expectWinner(
            try Self.branch(0, 4, digest: 0xFF), over: chatty, by: .depth, base: 4,
            policy: self.policy(senders: 10, override: 0))
    }

    @Test func moreWitnessesWinEqualDepth() throws {
        let chatty = try Self.branch(0, 2, digest: 0xFF, witnesses: [2: [1, 2, 3]])
        self.expectWinner(
            chatty, over: try Self.branch(0, 2, witnesses: [2: [1]]), by: .witnesses, base: 2,
            policy: self.policy(senders: 10, override: 0))
    }

    @Test func privilegedTipsPrecedeCommitters() throws {
        let privileged = try Self.branch(
            0, 2, digest: 0xFF, committer: Self.z, priority: .privileged, witnesses: [2: [1]])
        self.expectWinner(
            privileged, over: try Self.branch(0, 2, committer: Self.a, witnesses: [2: [1]]), by: .priority, base: 2,
            policy: self.policy(senders: 10, override: 0))
    }

    @Test func lowerCommittersPrecedeDigests() throws {
        let lower = try Self.branch(0, 2, digest: 0xFF, committer: Self.a, witnesses: [2: [1]])
        self.expectWinner(
            lower, over: try Self.branch(0, 2, committer: Self.z, witnesses: [2: [1]]), by: .committer, base: 2,
            policy: self.policy(senders: 10, override: 0))
    }

    @Test func lowerDigestsDecideLast() throws {
        self.expectWinner(
            try Self.branch(0, 2, witnesses: [2: [1]]), over: try Self.branch(0, 2, digest: 0xFF, witnesses: [2: [1]]),
            by: .digest, base: 2, policy: self.policy(senders: 10, override: 0))
    }

    // MARK: Recorded forks

    private static let alice = "91d80ea23e82125ab39789441b9aa22c2e5f31779f6b8e577f260b307c2e6311"
    private static let bob = "abc1d430c0d2c4fae1d9612d8a174af5e454010d04f48a436a17b8e05d82de4c"
    private static let carol = "1e4a07cdefe9fb9b9a4dc78427982550ab8d7c57fca810d6c3b841da1082fe7a"

    private func recorded(
        _ fork: UInt64, _ tip: UInt64, by committer: String, _ digest: String,
        _ priority: BranchCandidate.Priority = .privileged, witness: String? = nil
    ) throws -> BranchCandidate {
        let witnesses = try witness.map { text in
            [BranchCandidate.Witness(epoch: Epoch(rawValue: tip), account: try PublicKey(hex: text))]
        }
        return BranchCandidate(
            fork: Epoch(rawValue: fork), tip: Epoch(rawValue: tip), priority: priority,
            committer: try PublicKey(hex: committer), digest: try V2Vectors.bytes32(digest),
            witnesses: Set(witnesses ?? []))
    }

    @Test func raceGoesToTheLowerAccount() throws {
        self.expectWinner(
            try self.recorded(
                2, 3, by: Self.alice, "a3de0807a4a4115a0a2ce2917911c43acdbf57bd82e5b47ff5a9e9516cc7ffed"),
            over: try self.recorded(
                2, 3, by: Self.bob, "02bece0210061bad15d5dade5c3ca06b62280d19d9a0f618003c6c0652cc0baf"),
            by: .committer, base: 3)
    }

    @Test func twoKeyUpdatesBeatARename() throws {
        self.expectWinner(
            try self.recorded(
                3, 5, by: Self.carol, "e34badc65db7a5fdeba2f610525b361b6b66dcca1ce196ab0b2d44b987d7a988", .ordinary),
            over: try self.recorded(
                3, 4, by: Self.alice, "5e12b16a24e26d24e6201b2fa854f33ca4fe667169f7d8eb22887614edf00dac"),
            by: .depth, base: 5)
    }

    @Test func oneMessageBeatsTheLowerAccount() throws {
        self.expectWinner(
            try self.recorded(
                5, 6, by: Self.bob, "6b22af6e31d57d3d73bdb01df5fea7856ab4a70da319dfa7f9a401d4ca272faf",
                witness: Self.bob),
            over: try self.recorded(
                5, 6, by: Self.alice, "801bfafe29f536a2213372709d594bddd22499c37dae84724e50727743435a18"),
            by: .witnesses, base: 6)
    }

    // MARK: Counting

    @Test func standardPolicyIsPinned() {
        let policy = ConvergencePolicy.standard
        #expect(policy.maximumRewind == 5 && policy.witnessWindow == 5)
        #expect(policy.quorumSenders == 2 && policy.quorumEpochs == 1 && policy.quorumBonus == 1)
        #expect(ConvergencePolicy.quietMilliseconds == 1000 && ConvergencePolicy.passMilliseconds == 5000)
        #expect(
            BranchRule.allCases.map(\.rawValue) == [
                "effective_commit_depth", "witness_quorum_met", "app_witness_score", "tip_priority", "tip_committer",
                "tip_digest",
            ])
    }

    @Test func accountsCountOncePerEpoch() throws {
        let score = BranchScore(
            of: try Self.branch(0, 3, witnesses: [1: [1, 2, 3], 2: [1], 3: [1, 2]]), policy: .standard)
        #expect(score.witnesses == 5 && score.hasQuorum && score.depth == 4)
    }

    @Test func onlyBranchEpochsInWindowCount() throws {
        let early = try Self.branch(4, 6, witnesses: [3: [1, 2], 4: [1, 2], 7: [1, 2]])
        #expect(BranchScore(of: early, policy: .standard).witnesses == 0)
        let long = try Self.branch(0, 9, witnesses: [3: [1, 2], 4: [1, 2]])
        let score = BranchScore(of: long, policy: .standard)
        #expect(score.witnesses == 2 && score.depth == 10)
    }

    @Test func policiesWithoutQuorumGiveNoBonus() throws {
        let branch = try Self.branch(0, 2, witnesses: [1: [1, 2, 3]])
        for (senders, epochs) in [(0, 1), (2, 0), (-1, -1)] {
            let policy = ConvergencePolicy(
                maximumRewind: 5, witnessWindow: 5, quorumSenders: senders, quorumEpochs: epochs, quorumBonus: 3)
            let score = BranchScore(of: branch, policy: policy)
            #expect(!score.hasQuorum && score.depth == 2)
        }
    }

    @Test func oldForksAreNotEligible() throws {
        let (old, young) = (try Self.branch(4, 30), try Self.branch(5, 6))
        let choice = BranchChoice(among: [old, young], base: 10)
        #expect(choice?.winner == young && choice?.rule == nil)
        #expect(BranchChoice(among: [old], base: 10) == nil)
        #expect(BranchChoice(among: [BranchCandidate](), base: 10) == nil)
    }

    @Test func extremeEpochsDoNotTrap() throws {
        let (highest, hostile) = (try Self.branch(UInt64.max - 1, .max), try Self.branch(.max, 0))
        #expect(BranchChoice(among: [highest, hostile], base: .max)?.winner == highest)
        let whole = try Self.branch(0, .max, witnesses: [.max: [1, 2]])
        #expect(BranchScore(of: whole, policy: .standard).depth == .max)
    }

    /// Every order of many candidates gives the same winner, and equal tips have no deciding rule.
    @Test func orderDoesNotMatter() throws {
        var candidates: [BranchCandidate] = []
        for tip in UInt64(2)...3 {
            for digest: UInt8 in [1, 9] {
                for committer: UInt8 in [Self.a, Self.z] {
                    candidates.append(try Self.branch(1, tip, digest: digest, committer: committer))
                }
            }
        }
        let expected = try Self.branch(1, 3, digest: 1, committer: Self.a)
        for shift in candidates.indices {
            let rotated = Array(candidates[shift...] + candidates[..<shift])
            for order in [rotated, rotated.reversed()] {
                let choice = BranchChoice(among: order, base: 3)
                #expect(choice?.winner == expected && choice?.rule == .digest)
            }
        }
        #expect(BranchChoice(among: [expected, expected], base: 3)?.rule == nil)
    }
}
