/// A predicate that selects events for a handler. Filters combine with `&&`, `||` and `!`, as in
/// `OnMessage(.mention && !.from(stranger))`.
public struct EventFilter<Event: ChatEvent>: Sendable {
    private let condition: @Sendable (Event, EventScope) -> Bool

    /// Creates a filter from a condition, which must be fast and free of side effects.
    public init(_ condition: @escaping @Sendable (_ event: Event, _ scope: EventScope) -> Bool) {
        self.condition = condition
    }

    public func matches(_ event: Event, in scope: EventScope) -> Bool { condition(event, scope) }

    public static func && (left: Self, right: Self) -> Self {
        Self { left.matches($0, in: $1) && right.matches($0, in: $1) }
    }

    public static func || (left: Self, right: Self) -> Self {
        Self { left.matches($0, in: $1) || right.matches($0, in: $1) }
    }

    public static prefix func ! (filter: Self) -> Self {
        Self { !filter.matches($0, in: $1) }
    }
}

/// An action of a person in a chat.
public protocol ChatEvent: Sendable {
    /// The person who did it.
    var author: PublicKey { get }
    /// The author's role in the group in the event's own epoch; nil if it is unknown.
    var role: MemberRole? { get }
}

extension MessageEvent: ChatEvent {
    public var author: PublicKey { sender }
}

extension CommitEvent: ChatEvent {
    public var author: PublicKey { committer }
}

extension CallEvent: ChatEvent {
    public var author: PublicKey { sender }
}

extension JoinEvent: ChatEvent {
    public var author: PublicKey { inviter }
    /// Admin, because only invitations by admins are accepted (MIP-02), as of the group's state at the join.
    public var role: MemberRole? { .admin }
}

extension EventFilter {
    public static var any: Self { Self { _, _ in true } }

    /// Only events of these authors.
    public static func from(_ authors: PublicKey...) -> Self { from(authors) }

    public static func from(_ authors: some Collection<PublicKey>) -> Self {
        let authors = Set(authors)
        return Self { event, _ in authors.contains(event.author) }
    }

    /// Only events in these chats, named by chat id or by a nostrGroupID that no other group claims.
    public static func chat(_ chatIDs: String...) -> Self {
        let references = Set(chatIDs.map { $0.lowercased() })
        return Self { _, scope in scope.isChat(among: references) }
    }

    /// Only events in groups; `!.group` selects chats of two members.
    public static var group: Self { Self { _, scope in scope.isGroup } }

    /// Only events of an author who was an admin in the event's own epoch, whatever their role is now. An unknown role
    /// does not match.
    public static var fromAdmin: Self { Self { event, _ in event.role == .admin } }

    /// Only events of an operator of the account (`operators` in the configuration).
    public static var fromOperator: Self { Self { event, scope in scope.operators.contains(event.author) } }
}
