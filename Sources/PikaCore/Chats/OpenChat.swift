import MLS
import Nostr

/// The core's bookkeeping for the open chat, beyond the state that is shown.
struct OpenChat: Sendable {
    /// Identifies this opening: answers to requests of an earlier opening have another number.
    let number: Int
    /// The chat's group; nil if no group has the chat's id.
    let groupID: GroupID?
    /// The maximum number of hypernotes with recorded answers, shown or not; answers to further ones are dropped.
    static let maximumAnswered = 2000

    /// The oldest stored message that was read, shown or not.
    private(set) var oldestRead: StoredMessage.Position?
    /// The maximum number of messages shown; raised when older ones are requested.
    private(set) var shownLimit = CoreModel.maximumShown
    /// The times of the shown messages, which determine their positions.
    private var times: [EventID: UnixTime] = [:]
    /// The latest answer of each member to the chat's hypernotes, including hypernotes not shown yet.
    private(set) var responses: [EventID: [PublicKey: PlacedResponse]] = [:]
    /// Reactions to messages that are not shown, by target: they are on newer pages than their targets.
    private var reactions: [EventID: [PendingReaction]] = [:]
    private var pendingReactionCount = 0

    /// A reaction whose target is not shown.
    struct PendingReaction: Sendable, Hashable {
        let position: StoredMessage.Position
        let sender: PublicKey
        let emoji: String
    }

    private static let maximumPendingReactions = 10_000

    init(number: Int, groupID: GroupID?) {
        self.number = number
        self.groupID = groupID
    }

    // MARK: Shown messages

    func shows(_ id: EventID) -> Bool { self.times[id] != nil }

    /// The time of a shown message; nil if it is not shown.
    func time(of id: EventID) -> UnixTime? { self.times[id] }

    mutating func show(_ message: StoredMessage) { self.times[message.id] = message.time }

    mutating func hide(_ messages: some Sequence<AppState.ChatMessage>) {
        for message in messages { self.times[message.id] = nil }
    }

    /// Records that a page of messages was read.
    mutating func noteRead(_ messages: [StoredMessage]) {
        guard let oldest = messages.map(\.position).min() else { return }
        self.oldestRead = min(oldest, self.oldestRead ?? oldest)
    }

    mutating func raiseLimit(to count: Int) { self.shownLimit = max(CoreModel.maximumShown, count) }

    /// Records that messages older than the first one shown have to be read again.
    mutating func forgetRead(before first: AppState.ChatMessage?) {
        self.oldestRead = first.map { StoredMessage.Position(createdAt: $0.time, id: $0.id) }
    }

    // MARK: Answers and reactions

    /// Records an answer to a hypernote; each member's latest one counts. Returns whether the answer is the latest.
    mutating func add(_ response: PlacedResponse, to target: EventID) -> Bool {
        guard self.responses[target] != nil || self.responses.count < Self.maximumAnswered else { return false }
        let sender = response.response.sender
        let known = self.responses[target]?[sender]
        guard known.map({ $0.position < response.position }) ?? true else { return false }
        self.responses[target, default: [:]][sender] = response
        return true
    }

    mutating func keep(_ reaction: PendingReaction, to target: EventID) {
        guard self.pendingReactionCount < Self.maximumPendingReactions else { return }
        self.pendingReactionCount += 1
        self.reactions[target, default: []].append(reaction)
    }

    /// Removes and returns the reactions that waited for a message, oldest first.
    mutating func removeReactions(to target: EventID) -> [PendingReaction] {
        guard let found = self.reactions.removeValue(forKey: target) else { return [] }
        self.pendingReactionCount -= found.count
        return found.sorted { $0.position < $1.position }
    }
}

/// The sort key of a chat in the list, which is ordered by newest message first.
struct ChatPlace: Hashable, Comparable, Sendable {
    let time: UnixTime
    let chatID: ChatID

    init(_ chat: AppState.ChatSummary) {
        self.time = chat.lastMessageAt ?? 0
        self.chatID = chat.chatID
    }

    static func < (left: ChatPlace, right: ChatPlace) -> Bool {
        (left.time, left.chatID) < (right.time, right.chatID)
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the first index whose element does not satisfy the predicate, by binary search in a sorted collection.
    func place(where comesBefore: (Element) -> Bool) -> Int {
        var low = self.startIndex
        var high = self.endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if comesBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
