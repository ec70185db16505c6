/// An operation of an agent that is counted and timed.
///
/// Its name is part of reports, metrics and thresholds (`join.p95`), so it never changes once released.
package enum LoadOperation: Int, CaseIterable, Sendable, Hashable {
    /// From an agent's start until a relay is connected; one for each relay.
    case connect
    /// From an agent's first start until every relay was read.
    case createIdentity
    case publishKeyPackage
    case fetchKeyPackage
    case createGroup
    /// Adding members: from the decision to the relay's `OK` for the commit and the Welcomes.
    case add
    /// From the Welcome's publication until its gift wrap has reached the invited agent.
    case welcomeSeen
    /// From the decision to invite until the invited agent is a member.
    case join
    /// From joining until the first message is decrypted.
    case firstMessage
    /// From when a message was due until a relay's `OK`.
    case send
    /// From when a message was due until one member has decrypted it; one sample per receiver.
    case deliver
    case commit
    /// Repeating a commit that lost a race: from the loss until the new one is accepted.
    case conflictRetry
    case remove
    case leave
    /// An agent's start with an old or empty state: until it has caught up.
    case coldSync
}

extension LoadOperation {
    /// Short name in thresholds and metrics: letters only.
    package var name: String {
        switch self {
        case .connect: "connect"
        case .createIdentity: "identity"
        case .publishKeyPackage: "publish"
        case .fetchKeyPackage: "fetch"
        case .createGroup: "create"
        case .add: "add"
        case .welcomeSeen: "welcome"
        case .join: "join"
        case .firstMessage: "firstMessage"
        case .send: "send"
        case .deliver: "deliver"
        case .commit: "commit"
        case .conflictRetry: "retry"
        case .remove: "remove"
        case .leave: "leave"
        case .coldSync: "coldSync"
        }
    }

    /// Looks up an operation by its short name.
    package init?(name: String) {
        guard let operation = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = operation
    }

    /// Description for people.
    package var title: String {
        switch self {
        case .connect: "connect to a relay"
        case .createIdentity: "create identity"
        case .publishKeyPackage: "publish key package"
        case .fetchKeyPackage: "fetch key package"
        case .createGroup: "create group"
        case .add: "add member"
        case .welcomeSeen: "welcome seen"
        case .join: "join group"
        case .firstMessage: "first message decrypted"
        case .send: "send message"
        case .deliver: "deliver message"
        case .commit: "commit"
        case .conflictRetry: "conflict retry"
        case .remove: "remove member"
        case .leave: "leave group"
        case .coldSync: "cold sync"
        }
    }

    /// Group of operations; the first column of Locust's tables.
    package var family: String {
        switch self {
        case .connect: "relay"
        case .createIdentity: "identity"
        case .publishKeyPackage, .fetchKeyPackage: "keypackage"
        case .createGroup, .add, .welcomeSeen, .join, .commit, .conflictRetry, .remove, .leave: "group"
        case .firstMessage, .send, .deliver: "message"
        case .coldSync: "sync"
        }
    }

    /// Whether the operation changes a group that others can change too, so that conflicts are possible.
    var commits: Bool {
        switch self {
        case .add, .commit, .conflictRetry, .remove, .leave: true
        default: false
        }
    }
}
