public import Nostr

/// Which of two commits for the same epoch stands: the earlier, then the one with the smaller id (wire §5.7).
public struct CommitOrder: Hashable, Comparable, Sendable {
    public let createdAt: Int64
    public let id: EventID

    public init(_ event: Event) {
        self.createdAt = event.createdAt
        self.id = event.id
    }

    init(createdAt: Int64, id: EventID) {
        self.createdAt = createdAt
        self.id = id
    }

    /// Whether `left` wins over `right`.
    public static func < (left: CommitOrder, right: CommitOrder) -> Bool {
        (left.createdAt, left.id) < (right.createdAt, right.id)
    }
}
