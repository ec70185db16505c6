/// A proposal on its way into a commit, with who made it.
struct QueuedProposal {
    let proposal: Proposal
    let sender: LeafIndex
    /// ProposalRef if the commit names it by reference.
    let reference: [UInt8]?
    /// Whether an added key package was verified before.
    var isVerified = false

    var inCommit: ProposalOrRef {
        if let reference { .reference(reference) } else { .proposal(self.proposal) }
    }
}
