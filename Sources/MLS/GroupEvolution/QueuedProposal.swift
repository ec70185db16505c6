/// Proposal to be committed, with its sender.
struct QueuedProposal {
    let proposal: Proposal
    let sender: LeafIndex
    /// ProposalRef if the commit refers to the proposal by reference.
    let reference: [UInt8]?
    /// Whether an added key package has already been verified.
    var isVerified = false

    /// Whether the proposal is inside the commit rather than referred to.
    var isInline: Bool { self.reference == nil }

    /// Whether other implementations count repetitions of this proposal inside one commit once.
    var countsOnce: Bool {
        switch self.proposal {
        case .remove, .groupContextExtensions: self.isInline
        default: false
        }
    }

    var inCommit: ProposalOrRef {
        if let reference { .reference(reference) } else { .proposal(self.proposal) }
    }
}
