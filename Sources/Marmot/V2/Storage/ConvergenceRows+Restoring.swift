package import MLS
package import Nostr
import TLSCodec

/// Rows of a group's branch selection, as they were stored.
package struct StoredConvergenceRows: Sendable {
    /// The selected state: its header and MLS records.
    package var tip: StoredGroupPart
    /// The parts.
    package var parts: [ConvergencePart: Secret]

    /// Collects rows that were read.
    package init(tip: StoredGroupPart, parts: [ConvergencePart: Secret]) {
        self.tip = tip
        self.parts = parts
    }
}

extension StoredConvergenceRows {
    /// Restores the branch selection, and the record of its stored rows.
    ///
    /// - Parameter now: the monotonic clock.
    /// - Throws: `MarmotError.Code.badStoredForm`.
    package func restore(
        account: PublicKey, now: Int64
    ) throws(MarmotError) -> (convergence: GroupConvergence<ComponentBranch>, rows: ConvergenceRows) {
        do {
            guard let content = self.parts[.outline] else {
                throw MarmotError(.badStoredForm, "the outline of the branches is missing")
            }
            let outline = try StoredOutline(content)
            let tip = try ComponentBranch(self.tip, account: account)
            guard let tipPoint = outline.history.last else {
                throw MarmotError(.badStoredForm, "the selected history is empty")
            }
            var inputs = try self.inputs()
            var builder = StateBuilder(tip: tip, at: tipPoint, parts: self.parts, inputs: inputs)
            try builder.restoreHistory(outline.history)
            try builder.restoreNodes(outline.nodes)
            guard let states = RetainedStates(builder.nodes, history: outline.history) else {
                throw MarmotError(.badStoredForm, "expected the states of all selected epochs, found fewer")
            }
            let pending = try outline.pending.flatMap { id in try builder.ownCommit(id) }
            guard (pending == nil) == (outline.pending == nil) else {
                throw MarmotError(.badStoredForm, "the own pending commit is missing")
            }
            let own = OwnBranchCommits(
                pending: pending, abandoned: try outline.abandoned.compactMap { id in try builder.ownCommit(id) })
            _ = inputs.drainChanges()
            let convergence = GroupConvergence(
                states: states, inputs: inputs, own: own, schedule: PassSchedule(outline.phase, now: now),
                joined: outline.joined, hasAdminChange: outline.hasAdminChange, failure: outline.failure,
                halt: outline.halt)
            let rows = ConvergenceRows(
                tip: ConvergenceRows.Tip(point: tipPoint, mls: StoredGroupBaseline(tip.group.mls)), parts: self.parts)
            return (convergence, rows)
        } catch { throw MarmotError(.badStoredForm, "branches of a group: \(error)") }
    }

    private func inputs() throws(TLSCodecError) -> AdmittedInputs {
        var items: [(order: UInt64, item: StoredInput)] = []
        var closed: [ClosedChunk: [StoredDisposition]] = [:]
        for (part, content) in self.parts {
            switch part {
            case .input: items.append(try StoredInput.read(content))
            case .closed(let chunk): closed[chunk] = try StoredDisposition.read(content, of: chunk.epoch)
            case .outline, .origin, .state, .staged: break
            }
        }
        let ordered = items.sorted { ($0.order, $0.item.input.id) < ($1.order, $1.item.input.id) }
        return AdmittedInputs(ordered, closed: ClosedInputs(closed))
    }
}

/// Restores retained states: the selected history backwards from its tip, then all others after their parents.
private struct StateBuilder {
    private let parts: [ConvergencePart: Secret]
    private let inputs: AdmittedInputs
    /// The first epoch whose message secrets are kept.
    private let floor: Epoch
    private var states: [Bytes32: ComponentBranch]
    private(set) var nodes: [BranchNode<ComponentBranch>] = []

    init(tip: ComponentBranch, at point: Bytes32, parts: [ConvergencePart: Secret], inputs: AdmittedInputs) {
        self.parts = parts
        self.inputs = inputs
        self.floor = tip.epoch.earlier(by: ConvergencePolicy.standard.maximumRewind)
        self.states = [point: tip]
    }

    mutating func restoreHistory(_ history: [Bytes32]) throws {
        for id in history.dropLast().reversed() {
            guard try self.restoreState(id) else {
                throw MarmotError(.badStoredForm, "a state of the selected history is missing")
            }
        }
    }

    /// Restores a stored state; false if it, or the one from which it differs, is missing.
    private mutating func restoreState(_ id: Bytes32) throws -> Bool {
        if self.states[id] != nil { return true }
        guard let content = self.parts[.state(id)], let base = ComponentBranch.base(ofDifference: content),
            self.states[base] != nil
        else { return false }
        var state = try ComponentBranch(content, among: self.states)
        state.deleteMessageSecrets(before: self.floor)
        self.states[id] = state
        return true
    }

    mutating func restoreNodes(_ stored: [StoredOutline.Node]) throws {
        for item in stored {
            guard var node = try self.node(item) else { continue }
            node.restore(witnesses: item.witnesses, wasSelected: item.wasSelected)
            self.states[item.point.id] = node.state
            self.nodes.append(node)
        }
    }

    private mutating func node(_ item: StoredOutline.Node) throws -> BranchNode<ComponentBranch>? {
        let id = item.point.id
        switch item.form {
        case .first:
            guard try self.restoreState(id), let state = self.states[id] else { return nil }
            return BranchNode(item.point, state, origin: nil)
        case .stored:
            guard try self.restoreState(id), let state = self.states[id], let origin = try self.origin(of: id) else {
                return nil
            }
            return BranchNode(id, origin.step(to: state), after: origin.parent, isOwn: origin.isOwn)
        case .derivable:
            // If its commit cannot be applied, the next pass tries it again.
            guard let parent = self.states[item.parent], let commit = self.inputs.commits[id]?.input,
                let step = try? parent.applying(commit.bytes, proposals: self.inputs.proposals(of: commit.epoch))
            else { return nil }
            return BranchNode(id, step, after: item.parent, isOwn: false)
        }
    }

    private func origin(of id: Bytes32) throws(TLSCodecError) -> StoredOrigin? {
        guard let content = self.parts[.origin(id)] else { return nil }
        var reader = TLSReader(content.copyBytes())
        let origin = try StoredOrigin(from: &reader)
        try reader.finish()
        return origin
    }

    /// Restores a staged own commit; nil if its state cannot be restored.
    mutating func ownCommit(_ id: Bytes32) throws -> OwnBranchCommit<ComponentBranch>? {
        guard let content = self.parts[.staged(id)], let origin = try self.origin(of: id),
            try self.restoreState(id), let state = self.states[id]
        else { return nil }
        return OwnBranchCommit(
            input: try StoredInput.read(content).item.input, parent: origin.parent, step: origin.step(to: state))
    }
}
