import MLS
import Nostr

/// The candidates of a pass that chose one of several: finds the rule by which the chosen branch beat another one.
struct LostBranches: Sendable {
    private let winner: BranchCandidate
    private let candidates: [(commits: Set<Bytes32>, candidate: BranchCandidate)]
    private let base: Epoch
    private let policy: ConvergencePolicy
    /// Results by the points that were asked for: many messages are of one point.
    private var rules: [[Bytes32]: BranchRule] = [:]

    init(
        winner: BranchCandidate, among candidates: [(commits: [Bytes32], candidate: BranchCandidate)], base: Epoch,
        policy: ConvergencePolicy
    ) {
        self.winner = winner
        self.candidates = candidates.map { (commits: Set($0.commits), candidate: $0.candidate) }
        self.base = base
        self.policy = policy
    }

    /// Returns the rule by which the chosen branch beat the best one that contains one of these points; nil if no
    /// candidate contains one.
    mutating func rule(against points: [Bytes32]) -> BranchRule? {
        if let rule = self.rules[points] { return rule }
        let others = self.candidates.filter { !$0.commits.isDisjoint(with: points) }.map { $0.candidate }
        guard let best = BranchChoice(among: others, base: self.base, policy: self.policy)?.winner else { return nil }
        let rule = BranchChoice(among: [self.winner, best], base: self.base, policy: self.policy)?.rule
        self.rules[points] = rule
        return rule
    }
}
