extension EventFilter<ProposalEvent> {
    /// Only proposals of members that want to leave.
    public static var departure: Self { Self { proposal, _ in proposal.isDeparture } }
}
