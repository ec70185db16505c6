import MLS
package import Nostr

/// Own commit with the state after it. MLS cannot process own commits, so the state is kept (the checkpoint).
package struct OwnBranchCommit<State: BranchState>: Sendable {
    /// The commit.
    package let input: ConvergenceInput
    /// The point on which it was made.
    package let parent: Bytes32
    /// The state after it.
    package let step: BranchStep<State>

    /// Describes a commit by this member.
    package init(input: ConvergenceInput, parent: Bytes32, step: BranchStep<State>) {
        self.input = input
        self.parent = parent
        self.step = step
    }
}

/// This member's own commit that is being published, and abandoned ones that no relay is known to have.
struct OwnBranchCommits<State: BranchState>: Sendable {
    /// Maximum number of abandoned commits. None is forgotten while it is within reach, because a relay that serves it
    /// later would end the group for this member: at the limit no further commit is made.
    static var limit: Int { 64 }

    /// The commit that is being published.
    private(set) var pending: OwnBranchCommit<State>?
    /// Commits that no relay accepted, the oldest first. A relay may have one after all.
    private(set) var abandoned: [OwnBranchCommit<State>] = []

    init(pending: OwnBranchCommit<State>? = nil, abandoned: [OwnBranchCommit<State>] = []) {
        self.pending = pending
        self.abandoned = abandoned
    }

    /// Whether there is room for another commit, should it be abandoned.
    var hasRoom: Bool { self.abandoned.count < Self.limit }

    /// Returns an abandoned commit.
    subscript(_ id: Bytes32) -> OwnBranchCommit<State>? { self.abandoned.first { $0.input.id == id } }

    mutating func stage(_ commit: OwnBranchCommit<State>) { self.pending = commit }

    mutating func popPending() -> OwnBranchCommit<State>? {
        defer { self.pending = nil }
        return self.pending
    }

    mutating func abandonPending() {
        guard let commit = self.popPending() else { return }
        self.abandoned.append(commit)
    }

    mutating func prune(before floor: Epoch) { self.abandoned.removeAll { $0.input.epoch < floor } }
}
