/// The members who joined and left a group by one commit.
public struct MembershipChange: Sendable, Hashable {
    public let joined: [PublicKey]
    /// Members who left by themselves.
    public let left: [PublicKey]
    /// Members whom others removed.
    public let removed: [PublicKey]
    public let commit: CommitEvent

    /// Returns nil for a commit without changes of membership.
    init?(_ commit: CommitEvent) {
        guard !commit.added.isEmpty || !commit.removed.isEmpty || !commit.left.isEmpty else { return nil }
        joined = commit.added
        left = commit.left
        removed = commit.removed.filter { !commit.left.contains($0) }
        self.commit = commit
    }
}

/// Handles joining and leaving members, by commits of anyone, including the account. The account's own join is handled
/// by ``OnJoin``, its own removal by no handler.
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
