import MLS
import Nostr

/// Answers to members that ask for push tokens (kind 447), each after a random delay, so that not every member answers.
/// Not stored: after a restart other members answer.
struct PushAnswers: Sendable {
    /// The maximum delay in milliseconds.
    static let maximumDelay = Push.maximumDelay
    /// Seconds after which a request is too old to be answered: its sender has asked again, or others have answered.
    static let maximumAge: Int64 = 60
    /// The maximum number of requests that wait for their answers. Later ones are left to other members.
    private static let capacity = 64
    /// Each request may cost a list of every token of the group.
    private static let limit = RateLimit(4, per: .seconds(600))
    /// One member must not consume all answers of its group.
    private static let leafLimit = RateLimit(2, per: .seconds(600))
    /// The number of accounts that answer a request in a larger group, on average: a list reaches the others only after
    /// several of them have answered.
    static let answerers = 8

    private struct Requester: Hashable, Sendable {
        let groupID: GroupID
        let leaf: LeafIndex
    }

    /// An answer that waits for its time.
    struct Answer: Sendable, Hashable {
        let groupID: GroupID
        let request: EventID
        /// The leaf that asked.
        let leaf: LeafIndex
        /// Unix milliseconds.
        let due: Int64
    }

    private var waiting: [Answer] = []
    private var limiter = RateLimiter<GroupID>(capacity: 1_024)
    private var leafLimiter = RateLimiter<Requester>(capacity: 4_096)

    /// Schedules an answer, within the limits, or leaves it to others.
    ///
    /// - Parameter count: the number of accounts that may answer, this one included.
    mutating func schedule(
        _ request: EventID, of leaf: LeafIndex, in groupID: GroupID, among count: Int, _ step: inout CoreStep
    ) {
        // The limits come first: otherwise repeated requests would make every account answer at last.
        guard self.waiting.count < Self.capacity,
            self.leafLimiter.consume(
                Requester(groupID: groupID, leaf: leaf), Self.leafLimit, nowMilliseconds: step.nowMilliseconds),
            self.limiter.consume(groupID, Self.limit, nowMilliseconds: step.nowMilliseconds),
            count <= Self.answerers || Int.random(in: 0..<count, using: &step.random) < Self.answerers
        else { return }
        let due = step.nowMilliseconds + Int64.random(in: 0...Self.maximumDelay, using: &step.random)
        self.waiting.append(Answer(groupID: groupID, request: request, leaf: leaf, due: due))
        step.effects.append(.wake(.push, atMilliseconds: due))
    }

    /// Drops the answer to a request, since another member has answered it.
    mutating func cancel(_ request: EventID, in groupID: GroupID) {
        self.waiting.removeAll { $0.request == request && $0.groupID == groupID }
    }

    /// Removes and returns the answers that are due, in order.
    mutating func removeDue(_ nowMilliseconds: Int64) -> [Answer] {
        let due = self.waiting.filter { Push.isDue($0.due, nowMilliseconds) }
        self.waiting.removeAll { due.contains($0) }
        return due
    }

    /// When the next answer is due, in Unix milliseconds.
    var nextDue: Int64? { self.waiting.map(\.due).min() }
}
