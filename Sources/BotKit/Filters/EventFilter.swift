/// Says which events a handler wants. Filters combine with `&&`, `||` and `!`, as in
/// `OnMessage(.mention && !.from(stranger))`.
public struct EventFilter<Event: ChatEvent>: Sendable {
    private let condition: @Sendable (Event, EventScope) -> Bool

    /// A filter of one's own; the condition is quick and has no side effects.
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

/// Something that somebody did in a chat.
public protocol ChatEvent: Sendable {
    /// Who did it.
    var author: PublicKey { get }
    /// What the author was in the group, in the event's own epoch; nil if that is not known.
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
    /// Only admins' invitations are taken (MIP-02), as the group has them when one joins.
    public var role: MemberRole? { .admin }
}

extension EventFilter {
    public static var any: Self { Self { _, _ in true } }

    /// Only what one of these did.
    public static func from(_ authors: PublicKey...) -> Self { from(authors) }

    public static func from(_ authors: some Collection<PublicKey>) -> Self {
        let authors = Set(authors)
        return Self { event, _ in authors.contains(event.author) }
    }

    /// Only in one of these chats, named by chat id or by a nostrGroupID that no other group claims.
    public static func chat(_ chatIDs: String...) -> Self {
        let references = Set(chatIDs.map { $0.lowercased() })
        return Self { _, scope in scope.isChat(among: references) }
    }

    /// Only in groups; `!.group` for chats of two.
    public static var group: Self { Self { _, scope in scope.isGroup } }

    /// Only what an admin of the chat did: who was one in the event's own epoch, whatever has become of them since.
    /// What is not known any more counts as no.
    public static var fromAdmin: Self { Self { event, _ in event.role == .admin } }

    /// Only what an operator of the account did (`operators` in the configuration).
    public static var fromOperator: Self { Self { event, scope in scope.operators.contains(event.author) } }
}
