/// Handles changes of a group: the author, the change, and the epochs before and after.
public struct OnCommit: HandlerDeclaration {
    public let handler: Handler

    /// Includes the account's own commits unless the filter excludes them, as the default does.
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

/// Handles the account's own join of a group.
public struct OnJoin: HandlerDeclaration {
    public let handler: Handler

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
