import Marmot
public import Nostr

/// An event in a chat, for handlers: delivered until it is completed, also across restarts.
public struct CoreEvent: Sendable, Hashable {
    /// The inbox row's id; ascending. Pass it to ``AppCore/complete(_:effects:)``.
    public let inboxID: Int64
    /// Hex of the MLS group id.
    public internal(set) var chatID: String
    /// Unix seconds when this account received it.
    public let receivedAt: Int64
    public let content: Content

    public enum Content: Sendable, Hashable {
        case message(MessageEvent)
        case commit(CommitEvent)
        case call(CallEvent)
        /// This account joined the group.
        case joined(JoinEvent)
    }
}

/// A message of another member: text, reaction or any other inner kind.
public struct MessageEvent: Sendable, Hashable {
    /// The inner event's id.
    public let id: EventID
    public let sender: PublicKey
    public let kind: Kind
    public let content: String
    public let tags: [Tag]
    public let createdAt: Int64
    public let epoch: UInt64
    /// The sender's role in the event's epoch; nil if that is not known any more.
    public internal(set) var role: MemberRole?
    /// The kind 445 event that carried it; nil if a version that did not record it received the event.
    public internal(set) var wrapper: EventID?
}

/// A commit in the group: its committer and its changes.
public struct CommitEvent: Sendable, Hashable {
    /// The kind 445 event's id.
    public let id: EventID
    public let committer: PublicKey
    public let isOwn: Bool
    public let epochBefore: UInt64
    public let epochAfter: UInt64
    public let added: [PublicKey]
    public let removed: [PublicKey]
    /// Those of `removed` who left by themselves.
    public let left: [PublicKey]
    public let oldName: String
    public let newName: String
    public let newDescription: String
    public let descriptionChanged: Bool
    public let adminsAdded: [PublicKey]
    public let adminsRemoved: [PublicKey]
    public let newRelays: [RelayURL]
    public let relaysChanged: Bool
    /// Seconds after which messages are deleted from now on; nil for never.
    public let disappearingSeconds: UInt64?
    public let disappearingChanged: Bool
    /// Whether it replaced a commit that this account had applied before.
    public let rolledBack: Bool
    /// Whether this account is no longer a member.
    public let removedSelf: Bool
    /// The committer's role before the commit; nil if that is not known any more.
    public internal(set) var role: MemberRole?

    public var isRename: Bool { self.oldName != self.newName }
}

/// A call signal of another member (docs/protocol/marmot.md §9.1).
public struct CallEvent: Sendable, Hashable {
    public let id: EventID
    public let sender: PublicKey
    public let signal: CallSignal
    public let epoch: UInt64
    /// As ``MessageEvent/role``.
    public internal(set) var role: MemberRole?
    /// As ``MessageEvent/wrapper``.
    public internal(set) var wrapper: EventID?
}

public struct JoinEvent: Sendable, Hashable {
    public let inviter: PublicKey
    public let name: String
    public let epoch: UInt64
    public let memberCount: Int
}

/// An effect that a handler requests; committed together with the handled event.
public struct HandlerEffect: Sendable, Hashable {
    public enum Operation: Sendable, Hashable {
        case send(chatID: String, OutgoingMessage)
        /// A value in the bot's own durable store; nil deletes it.
        case putValue(scope: String, key: String, value: [UInt8]?)
        case dispatch(AppAction)
    }

    /// Stable: derived from bot, input event and ordinal, so that a repeated handler run has no second effect.
    public let id: String
    public let operation: Operation

    public init(id: String, operation: Operation) {
        self.id = id
        self.operation = operation
    }
}
