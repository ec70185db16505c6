/// Handles commits of a group: the committer, the changes, and the epochs before and after (RFC 9420 §12.4).
public struct OnCommit: HandlerDeclaration {
    /// The handler for commits.
    public let handler: Handler

    /// Creates a handler for the commits that the filter selects. The default excludes the account's own commits; any
    /// other filter must do so itself, with ``EventFilter/byOthers``.
    public init(
        _ filter: EventFilter<CommitEvent> = .byOthers,
        perform body: @escaping @Sendable (CommitEvent, BotContext) async throws -> Void
    ) {
        handler = Handler(label: "commit") { event, scope in
            guard case .commit(let commit) = event.content, filter.matches(commit, in: scope) else { return nil }
            return { try await body(commit, $0) }
        }
    }
}

/// Handles the account's own join of a group, by an accepted invitation.
public struct OnJoin: HandlerDeclaration {
    /// The handler for the account's joins.
    public let handler: Handler

    /// Creates a handler for the joins that the filter selects, such as those by invitation of one person.
    public init(
        _ filter: EventFilter<JoinEvent> = .any,
        perform body: @escaping @Sendable (JoinEvent, BotContext) async throws -> Void
    ) {
        handler = Handler(label: "join") { event, scope in
            guard case .joined(let join) = event.content, filter.matches(join, in: scope) else { return nil }
            return { try await body(join, $0) }
        }
    }
}
