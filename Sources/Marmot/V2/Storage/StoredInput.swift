package import MLS
package import Nostr

/// Admitted input in its stored form.
package struct StoredInput: Sendable, Hashable {
    /// The message.
    package var input: ConvergenceInput
    /// Whether no pass has considered it.
    package var isFresh: Bool
    /// Its disposition so far.
    package var disposition: InputDisposition
    /// Whether a commit is this member's own.
    package var isOwn = false
    /// Whether a commit waits for a proposal.
    package var waitsForProposal = false
    /// Whether an applied commit refers to a proposal.
    package var isUsed = false
    /// Whether a selected state found a proposal authentic.
    package var isProven = false
    /// The state that authenticated an application message, or the last that judged a proposal.
    package var home: Bytes32?
}

/// Final disposition in its stored form.
package struct StoredDisposition: Sendable, Hashable {
    /// SHA-256 of the MLSMessage.
    package var id: Bytes32
    /// The epoch that the message names.
    package var epoch: Epoch
    /// The disposition.
    package var disposition: InputDisposition
}

extension AdmittedInputs {
    /// Restores inputs in the order of their admission.
    init(_ stored: [(order: UInt64, item: StoredInput)], closed: ClosedInputs) {
        self.init(closed: closed)
        for (order, item) in stored {
            self.continueOrder(at: order)
            switch item.input.kind {
            case .commit:
                self.admit(
                    item.input, isFresh: item.isFresh,
                    progress: CommitProgress(isOwn: item.isOwn, waitsForProposal: item.waitsForProposal))
                self.commits.update(item.input.id) { $0.disposition = item.disposition }
            case .proposal:
                self.restore(
                    proposal: item.input,
                    progress: ProposalProgress(isUsed: item.isUsed, isProven: item.isProven, judge: item.home),
                    item.disposition)
            case .application:
                self.admit(message: item.input, home: item.home, isFresh: item.isFresh, item.disposition)
            }
        }
    }

    /// Returns an admitted input, and its place in the order of admission.
    func storedInput(_ id: Bytes32) -> (order: UInt64, item: StoredInput)? {
        if let entry = self.commits[id] {
            var item = StoredInput(input: entry.input, isFresh: entry.isFresh, disposition: entry.disposition)
            item.isOwn = entry.detail.isOwn
            item.waitsForProposal = entry.detail.waitsForProposal
            return (entry.order, item)
        }
        if let entry = self.proposals[id] {
            var item = StoredInput(input: entry.input, isFresh: entry.isFresh, disposition: entry.disposition)
            item.isUsed = entry.detail.isUsed
            item.isProven = entry.detail.isProven
            item.home = entry.detail.judge
            return (entry.order, item)
        }
        if let entry = self.messages[id] {
            var item = StoredInput(input: entry.input, isFresh: entry.isFresh, disposition: entry.disposition)
            item.home = entry.detail.home
            return (entry.order, item)
        }
        return nil
    }
}
