extension EventFilter<ProposalEvent> {
    /// Only proposals of members that want to leave.
    public static var departure: Self { Self { proposal, _ in proposal.isDeparture } }

    /// Only proposals to remove another member.
    public static var removal: Self {
        Self { proposal, _ in if case .removal = proposal.change { true } else { false } }
    }

    /// Only proposals to add a member.
    public static var addition: Self {
        Self { proposal, _ in if case .addition = proposal.change { true } else { false } }
    }
}
