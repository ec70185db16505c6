/// Proposal to be committed, with its sender.
struct QueuedProposal {
    let proposal: Proposal
    let sender: LeafIndex
    /// ProposalRef if the commit refers to the proposal by reference.
    let reference: [UInt8]?
    /// Whether an added key package has already been verified.
    var isVerified = false

    var inCommit: ProposalOrRef {
        if let reference { .reference(reference) } else { .proposal(self.proposal) }
    }
}
