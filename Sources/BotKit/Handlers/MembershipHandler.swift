/// The changes of a group's membership by one commit.
public struct MembershipChange: Sendable, Hashable {
    /// Members whom the commit added.
    public let joined: [PublicKey]
    /// Members who left voluntarily.
    public let left: [PublicKey]
    /// Members whom others removed.
    public let removed: [PublicKey]
    /// The commit that made the change.
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

/// Handles joining and leaving members, by commits of any member, including the account itself.
///
/// ```swift
/// OnMembership { change, context in
///     for member in change.joined { context.send("Welcome, \(member.npub)!") }
/// }
/// ```
///
/// It does not handle the account's own join (see ``OnJoin``) or removal.
public struct OnMembership: HandlerDeclaration {
    /// The handler for changes of membership.
    public let handler: Handler

    /// Creates a handler for the changes of membership by the commits that the filter selects.
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
