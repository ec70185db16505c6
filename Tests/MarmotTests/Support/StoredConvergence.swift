import MLS
import Nostr

@testable import Marmot

/// Complete content of a ``GroupConvergence`` of any state as plain values, to restart a ``FakeMember`` at any point as
/// ``ConvergenceRows`` restarts a group of components. Times are remaining milliseconds, because a monotonic clock may
/// start again.
struct StoredConvergence<State: BranchState>: Sendable {
    /// The retained states, parents before the states after them.
    var nodes: [StoredNode<State>]
    /// The selected points, the oldest first; the last is the tip.
    var history: [Bytes32]
    /// This member's own commit that is being published.
    var pending: OwnBranchCommit<State>?
    /// Own commits that no relay is known to have.
    var abandoned: [OwnBranchCommit<State>]
    /// The admitted inputs with their messages.
    var inputs: [StoredInput]
    /// The final dispositions, the oldest first.
    var closed: [StoredDisposition]
    /// Phase of the passes.
    var phase: StoredPhase
    /// The first epoch that this member can know.
    var joined: Epoch
    /// Whether a change that needs an admin waits for its turn.
    var hasAdminChange: Bool
    /// Failure of the last pass.
    var failure: PassFailure?
    /// Reason why the group accepts nothing more.
    var halt: ConvergenceHalt?
}

/// Retained state in its stored form.
struct StoredNode<State: BranchState>: Sendable {
    /// Origin of the state.
    enum Content: Sendable {
        /// The first known state.
        case first(State)
        /// The state after a commit.
        case applied(BranchStep<State>, parent: Bytes32, isOwn: Bool)
        /// The state of a losing commit of another member, never selected: the admitted commit is applied again.
        case derivable(parent: Bytes32)
    }

    /// The point.
    var point: BranchPoint
    /// The state, or how to compute it.
    var content: Content
    /// Accounts with authenticated messages, as many as count.
    var witnesses: Set<PublicKey>
    /// Whether messages of the point were delivered.
    var wasSelected: Bool
}

extension GroupConvergence {
    /// Returns the content.
    ///
    /// - Parameter omittingDerivable: leaves out the states of losing commits of others, which are computed again when
    ///   the value is restored. Own states, and those that are or were selected, can never be computed again.
    func stored(omittingDerivable: Bool = false) -> StoredConvergence<State> {
        StoredConvergence(
            nodes: self.states.all.map { self.stored($0, omittingDerivable: omittingDerivable) },
            history: self.states.history, pending: self.own.pending, abandoned: self.own.abandoned,
            inputs: self.inputs.stored, closed: self.inputs.closed.inOrder, phase: self.schedule.stored,
            joined: self.joined, hasAdminChange: self.hasAdminChange, failure: self.failure, halt: self.halt)
    }

    private func stored(_ node: BranchNode<State>, omittingDerivable: Bool) -> StoredNode<State> {
        let content: StoredNode<State>.Content
        if let origin = node.origin {
            if omittingDerivable, node.isDerivable, !self.states.isSelected(node.point.id) {
                content = .derivable(parent: origin.parent)
            } else {
                content = .applied(
                    BranchStep(
                        state: node.state, priority: origin.priority, committer: origin.committer,
                        change: origin.change, proposals: origin.proposals), parent: origin.parent,
                    isOwn: origin.isOwn)
            }
        } else {
            content = .first(node.state)
        }
        return StoredNode(
            point: node.point, content: content, witnesses: node.witnesses, wasSelected: node.wasSelected)
    }

    /// Restores a value; `now` is the restored clock.
    ///
    /// - Throws: `MarmotError.Code.badStoredForm` if a selected state is missing.
    init(restoring stored: StoredConvergence<State>, now: Int64) throws(MarmotError) {
        let inputs = AdmittedInputs(
            stored.inputs.enumerated().map { (UInt64(clamping: $0.offset), $0.element) },
            closed: ClosedInputs(stored.closed))
        var nodes: [BranchNode<State>] = []
        var positions: [Bytes32: Int] = [:]
        for item in stored.nodes {
            let parent = item.parent.flatMap { positions[$0] }.map { nodes[$0] }
            guard var node = Self.node(item, after: parent, inputs) else { continue }
            node.restore(witnesses: item.witnesses, wasSelected: item.wasSelected)
            positions[node.point.id] = nodes.count
            nodes.append(node)
        }
        guard let states = RetainedStates(nodes, history: stored.history) else {
            throw MarmotError(.badStoredForm, "expected the states of all selected epochs, found fewer")
        }
        self.init(
            states: states, inputs: inputs, own: OwnBranchCommits(pending: stored.pending, abandoned: stored.abandoned),
            schedule: PassSchedule(stored.phase, now: now), joined: stored.joined,
            hasAdminChange: stored.hasAdminChange, failure: stored.failure, halt: stored.halt)
    }

    /// Returns a restored state; nil if it cannot be computed again. The next pass then tries its commit again.
    private static func node(
        _ item: StoredNode<State>, after parent: BranchNode<State>?, _ inputs: AdmittedInputs
    ) -> BranchNode<State>? {
        switch item.content {
        case .first(let state): return BranchNode(item.point, state, origin: nil)
        case .applied(let step, let parent, let isOwn):
            return BranchNode(item.point.id, step, after: parent, isOwn: isOwn)
        case .derivable:
            guard let parent, let commit = inputs.commits[item.point.id]?.input,
                let step = try? parent.state.applying(commit.bytes, proposals: inputs.proposals(of: commit.epoch))
            else { return nil }
            return BranchNode(item.point.id, step, after: parent.point.id, isOwn: false)
        }
    }
}

extension StoredNode {
    fileprivate var parent: Bytes32? {
        switch self.content {
        case .first: nil
        case .applied(_, let parent, _): parent
        case .derivable(let parent): parent
        }
    }
}

extension AdmittedInputs {
    /// The inputs in the order of their admission.
    fileprivate var stored: [StoredInput] {
        let ids =
            self.commits.unordered.map(\.input.id) + self.proposals.unordered.map(\.input.id)
            + self.messages.unordered.map(\.input.id)
        return ids.compactMap { self.storedInput($0) }.sorted { $0.order < $1.order }.map(\.item)
    }
}

extension ClosedInputs {
    /// Restores dispositions, the oldest first.
    fileprivate init(_ stored: [StoredDisposition]) {
        self.init()
        for entry in stored.suffix(Self.limit) { self.insert(entry.id, entry.epoch, entry.disposition) }
    }

    /// The dispositions, the oldest first.
    fileprivate var inOrder: [StoredDisposition] {
        self.entries.sorted { $0.value.order < $1.value.order }.map { id, entry in
            StoredDisposition(id: id, epoch: entry.epoch, disposition: entry.disposition)
        }
    }
}
