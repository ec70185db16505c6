/// A predicate that selects events for a handler.
///
/// Filters combine with `&&`, `||` and `!`, and an extension adds your own:
///
/// ```swift
/// extension EventFilter<MessageEvent> {
///     static var question: Self { Self { message, _ in message.content.hasSuffix("?") } }
/// }
///
/// OnMessage(.question && (.mention || !.group)) { message, context in
///     context.reply("42")
/// }
/// ```
public struct EventFilter<Event: ChatEvent>: Sendable {
    private let condition: @Sendable (Event, EventScope) -> Bool

    /// Creates a filter from a condition, which must be fast and free of side effects.
    public init(_ condition: @escaping @Sendable (_ event: Event, _ scope: EventScope) -> Bool) {
        self.condition = condition
    }

    /// Returns whether the filter selects an event.
    public func matches(_ event: Event, in scope: EventScope) -> Bool { condition(event, scope) }

    /// Returns a filter that selects the events that both select; tries the left one first.
    public static func && (left: Self, right: Self) -> Self {
        Self { left.matches($0, in: $1) && right.matches($0, in: $1) }
    }

    /// Returns a filter that selects the events that at least one selects; tries the left one first.
    public static func || (left: Self, right: Self) -> Self {
        Self { left.matches($0, in: $1) || right.matches($0, in: $1) }
    }

    /// Returns a filter that selects the events that the other one does not select.
    public static prefix func ! (filter: Self) -> Self {
        Self { !filter.matches($0, in: $1) }
    }
}

/// An action of a person in a chat.
public protocol ChatEvent: Sendable {
    /// The public key of the person.
    var author: PublicKey { get }
    /// The author's role in the group in the event's own epoch; nil if it is unknown.
    var role: MemberRole? { get }
}

extension MessageEvent: ChatEvent {
    /// The sender.
    public var author: PublicKey { sender }
}

extension CommitEvent: ChatEvent {
    /// The committer.
    public var author: PublicKey { committer }
}

extension ProposalEvent: ChatEvent {
    /// The proposer.
    public var author: PublicKey { sender }
}

extension CallEvent: ChatEvent {
    /// The sender of the signal.
    public var author: PublicKey { sender }
}

extension JoinEvent: ChatEvent {
    /// The member who invited the account.
    public var author: PublicKey { inviter }
    /// Admin, because only invitations by admins are accepted (MIP-02), as of the group's state at the join.
    public var role: MemberRole? { .admin }
}

extension WithdrawnEvent: ChatEvent {
    /// The sender of the withdrawn or restored message, who did not cause this event.
    public var author: PublicKey { sender }
    /// Unknown.
    public var role: MemberRole? { nil }
}

extension EventFilter {
    /// All events.
    public static var any: Self { Self { _, _ in true } }

    /// Only events of these authors.
    public static func from(_ authors: PublicKey...) -> Self { from(authors) }

    /// Only events of these authors, for example from a setting.
    public static func from(_ authors: some Collection<PublicKey>) -> Self {
        let authors = Set(authors)
        return Self { event, _ in authors.contains(event.author) }
    }

    /// Only events in these chats, named by chat id or by a nostrGroupID that no other group claims.
    public static func chat(_ chatIDs: ChatID...) -> Self {
        let references = Set(chatIDs.map { ChatID(rawValue: $0.rawValue.lowercased()) })
        return Self { _, scope in scope.isChat(among: references) }
    }

    /// Only events in groups (``EventScope/isGroup``); `!.group` selects direct chats.
    public static var group: Self { Self { _, scope in scope.isGroup } }

    /// Only events of authors who were admins in the event's own epoch, even if they no longer are. An unknown role
    /// does not match.
    public static var fromAdmin: Self { Self { event, _ in event.role == .admin } }

    /// Only events of an operator of the account (`operators` in the configuration).
    public static var fromOperator: Self { Self { event, scope in scope.operators.contains(event.author) } }
}
