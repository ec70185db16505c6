package import MLS
import Nostr

/// Changes that bring a store up to date with a group's branch selection.
package struct ConvergenceChanges: Sendable {
    /// The header of the selected state, if it changed; the caller must seal it, like everything here.
    package let header: Secret?
    /// Changes to the MLS records of the selected state.
    package let mls: GroupStorageChanges
    /// Parts to write; nil for those to delete.
    package let parts: [ConvergencePart: Secret?]
}

/// The stored rows of a group's branch selection, so that a change is stored as few small rows: a message as the
/// records of its sender's keys and a part of the final dispositions.
package struct ConvergenceRows: Sendable {
    /// The selected state in the store.
    struct Tip: Sendable {
        let point: Bytes32
        var mls: StoredGroupBaseline
    }

    private var tip: Tip?
    private var outline: Secret?
    /// The facts from which ``outline`` was made; nil after a restart.
    private var outlined: Outlined?
    /// The set of states for which the rows of states were written; nil after a restart.
    private var written: Written?
    private var origins: Set<Bytes32> = []
    /// The retained states, with the points from whose states they differ.
    private var states: [Bytes32: Bytes32] = [:]
    private var staged: Set<Bytes32> = []
    private var inputs: Set<Bytes32> = []
    private var closed: Set<ClosedChunk> = []

    private struct Written: Sendable, Hashable {
        let version: UInt64
        let staged: [Bytes32]
    }

    private struct Outlined: Sendable, Hashable {
        let version: UInt64
        let witnessVersion: UInt64
        let pending: Bytes32?
        let abandoned: [Bytes32]
        let phase: StoredPhase
        let hasAdminChange: Bool
        let failure: PassFailure?
        let halt: ConvergenceHalt?

        init(_ convergence: GroupConvergence<ComponentBranch>) {
            self.version = convergence.version
            self.witnessVersion = convergence.states.witnessVersion
            self.pending = convergence.own.pending?.input.id
            self.abandoned = convergence.own.abandoned.map(\.input.id)
            self.phase = convergence.schedule.stored
            self.hasAdminChange = convergence.hasAdminChange
            self.failure = convergence.failure
            self.halt = convergence.halt
        }
    }

    /// Nothing is stored yet.
    package init() {}

    /// Rows that were read.
    init(tip: Tip, parts: [ConvergencePart: Secret]) {
        self.tip = tip
        for (part, content) in parts {
            switch part {
            case .outline: self.outline = content
            case .origin(let id): self.origins.insert(id)
            case .state(let id): self.states[id] = ComponentBranch.base(ofDifference: content) ?? id
            case .staged(let id): self.staged.insert(id)
            case .input(let id): self.inputs.insert(id)
            case .closed(let chunk): self.closed.insert(chunk)
            }
        }
    }

    /// The parts in the store.
    package var parts: Set<ConvergencePart> {
        var parts: Set<ConvergencePart> = self.outline == nil ? [] : [.outline]
        parts.formUnion(self.origins.map(ConvergencePart.origin))
        parts.formUnion(self.states.keys.map(ConvergencePart.state))
        parts.formUnion(self.staged.map(ConvergencePart.staged))
        parts.formUnion(self.inputs.map(ConvergencePart.input))
        parts.formUnion(self.closed.map(ConvergencePart.closed))
        return parts
    }

    /// Whether the selected state is in the store.
    package var hasTip: Bool { self.tip != nil }

    /// Returns the changes since the last call, and counts them as stored.
    package mutating func drainChanges(of convergence: inout GroupConvergence<ComponentBranch>) -> ConvergenceChanges {
        let (header, mls) = self.drainTip(of: &convergence)
        var parts: [ConvergencePart: Secret?] = [:]
        self.drainStates(of: convergence, &parts)
        self.drainInputs(of: &convergence, &parts)
        self.drainOutline(of: convergence, &parts)
        return ConvergenceChanges(header: header, mls: mls, parts: parts)
    }

    private mutating func drainOutline(
        of convergence: GroupConvergence<ComponentBranch>, _ parts: inout [ConvergencePart: Secret?]
    ) {
        let current = Outlined(convergence)
        guard current != self.outlined else { return }
        self.outlined = current
        let outline = StoredOutline(convergence).encoded
        guard outline != self.outline else { return }
        parts[.outline] = .some(outline)
        self.outline = outline
    }

    // MARK: The selected state

    private mutating func drainTip(
        of convergence: inout GroupConvergence<ComponentBranch>
    ) -> (header: Secret?, mls: GroupStorageChanges) {
        let point = convergence.tipPoint.id
        if self.tip?.point == point {
            let changes = convergence.updateTip { tip in tip.withGroup { group in group.drainChanges() } }
            self.tip?.mls.note(changes.mls)
            return (changes.header.map { _ in convergence.tip.header }, changes.mls)
        }
        let known = self.tip?.mls
        let mls = convergence.updateTip { tip in tip.withGroup { group in group.drainAll(from: known) } }
        self.tip = Tip(point: point, mls: StoredGroupBaseline(convergence.tip.group.mls))
        return (convergence.tip.header, mls)
    }

    // MARK: Retained states

    private mutating func drainStates(
        of convergence: GroupConvergence<ComponentBranch>, _ parts: inout [ConvergencePart: Secret?]
    ) {
        let staged = [convergence.own.pending].compactMap { $0 } + convergence.own.abandoned
        let current = Written(version: convergence.version, staged: staged.map(\.input.id))
        guard current != self.written else { return }
        self.written = current
        let plan = RetentionPlan(convergence)
        Self.replace(&self.origins, by: Set(plan.origins.keys)) { id, isNew in
            parts[.origin(id)] = .some(isNew ? plan.origins[id]?.encoded : nil)
        }
        Self.replace(&self.staged, by: Set(plan.staged.keys)) { id, isNew in
            parts[.staged(id)] = .some(isNew ? plan.staged[id].map(Self.encoded) : nil)
        }
        for id in self.states.keys where plan.states[id] == nil {
            self.states[id] = nil
            parts[.state(id)] = .some(nil)
        }
        for (id, kept) in plan.states where self.states[id] != kept.base {
            parts[.state(id)] = .some(kept.state.difference(from: kept.baseState, at: kept.base))
            self.states[id] = kept.base
        }
    }

    private static func encoded(_ commit: OwnBranchCommit<ComponentBranch>) -> Secret {
        StoredInput(input: commit.input, isFresh: false, disposition: .collected, isOwn: true).encoded(order: 0)
    }

    /// Makes a set equal to another one, and reports the differences.
    private static func replace(
        _ known: inout Set<Bytes32>, by current: Set<Bytes32>, _ report: (_ id: Bytes32, _ isNew: Bool) -> Void
    ) {
        guard known != current else { return }
        for id in known.subtracting(current) { report(id, false) }
        for id in current.subtracting(known) { report(id, true) }
        known = current
    }

    // MARK: Inputs

    private mutating func drainInputs(
        of convergence: inout GroupConvergence<ComponentBranch>, _ parts: inout [ConvergencePart: Secret?]
    ) {
        let changes = convergence.drainInputChanges()
        for id in changes.inputs {
            if let (order, item) = convergence.inputs.storedInput(id) {
                self.inputs.insert(id)
                parts[.input(id)] = .some(item.encoded(order: order))
            } else if self.inputs.remove(id) != nil {
                parts[.input(id)] = .some(nil)
            }
        }
        for chunk in changes.closed {
            let content = convergence.inputs.closed.content(of: chunk)
            if !content.isEmpty {
                self.closed.insert(chunk)
                parts[.closed(chunk)] = .some(StoredDisposition.encode(content))
            } else if self.closed.remove(chunk) != nil {
                parts[.closed(chunk)] = .some(nil)
            }
        }
    }
}

/// Which states of a branch selection must be stored, and how: the selected history from its tip backwards, all others
/// from their parents. Losing commits of others that were never selected are applied again.
struct RetentionPlan {
    struct Kept {
        let state: ComponentBranch
        let base: Bytes32
        let baseState: ComponentBranch
    }

    private(set) var origins: [Bytes32: StoredOrigin] = [:]
    private(set) var states: [Bytes32: Kept] = [:]
    /// Own commits that are being published or were abandoned.
    private(set) var staged: [Bytes32: OwnBranchCommit<ComponentBranch>] = [:]

    init(_ convergence: GroupConvergence<ComponentBranch>) {
        let retained = convergence.states
        let history = retained.history
        for (id, next) in zip(history, history.dropFirst()) { self.keep(retained[id], as: id, from: retained[next]) }
        for node in retained.all {
            guard let origin = node.origin, retained.isSelected(node.point.id) || !node.isDerivable else { continue }
            self.origins[node.point.id] = StoredOrigin(origin)
            guard !retained.isSelected(node.point.id) else { continue }
            self.keep(node, as: node.point.id, from: retained[origin.parent])
        }
        for commit in [convergence.own.pending].compactMap({ $0 }) + convergence.own.abandoned {
            let id = commit.input.id
            guard retained[id] != nil || retained[commit.parent] != nil else { continue }
            self.staged[id] = commit
            guard retained[id] == nil, let parent = retained[commit.parent] else { continue }
            self.origins[id] = StoredOrigin(commit)
            self.states[id] = Kept(state: commit.step.state, base: commit.parent, baseState: parent.state)
        }
    }

    private mutating func keep(
        _ node: BranchNode<ComponentBranch>?, as id: Bytes32, from base: BranchNode<ComponentBranch>?
    ) {
        guard let node, let base else { return }
        self.states[id] = Kept(state: node.state, base: base.point.id, baseState: base.state)
    }
}

extension StoredOutline {
    init(_ convergence: GroupConvergence<ComponentBranch>) {
        let retained = convergence.states
        let own = convergence.own
        self.nodes = retained.all.map { node in
            let isDerivable = node.isDerivable && !retained.isSelected(node.point.id)
            return Node(
                point: node.point, form: node.origin == nil ? .first : isDerivable ? .derivable : .stored,
                parent: node.origin?.parent ?? node.point.id, witnesses: node.witnesses,
                wasSelected: node.wasSelected)
        }
        self.history = retained.history
        self.pending = own.pending?.input.id
        self.abandoned = own.abandoned.map(\.input.id)
        self.phase = convergence.schedule.stored
        self.joined = convergence.joined
        self.hasAdminChange = convergence.hasAdminChange
        self.failure = convergence.failure
        self.halt = convergence.halt
    }
}
