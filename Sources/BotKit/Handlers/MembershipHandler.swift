/// Who came into a group, and who is not in it any more, by one commit.
public struct MembershipChange: Sendable, Hashable {
    public let joined: [PublicKey]
    /// By their own wish.
    public let left: [PublicKey]
    /// By somebody else's.
    public let removed: [PublicKey]
    public let commit: CommitEvent

    /// Nil for a commit that changes nobody's membership.
    init?(_ commit: CommitEvent) {
        guard !commit.added.isEmpty || !commit.removed.isEmpty || !commit.left.isEmpty else { return nil }
        joined = commit.added
        left = commit.left
        removed = commit.removed.filter { !commit.left.contains($0) }
        self.commit = commit
    }
}

/// Handles the coming and going of members, whoever committed it, also the account itself. The account's own arrival
/// is ``OnJoin``'s, and its own removal nobody's.
public struct OnMembership: HandlerDeclaration {
    public let handler: Handler

    public init(
        _ filter: EventFilter<CommitEvent> = .any,
        perform body: @escaping @Sendable (MembershipChange, BotContext) async throws -> Void
    ) {
        handler = Handler(label: "membership") { event, scope in
            guard case .commit(let commit) = event.content, !commit.removedSelf,
                let change = MembershipChange(commit), filter.matches(commit, in: scope)
            else { return nil }
            return { try await body(change, $0) }
        }
    }
}
