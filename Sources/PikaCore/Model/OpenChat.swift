import MLS
import Nostr

/// The core's bookkeeping for the open chat, beyond the state that is shown.
struct OpenChat: Sendable {
    /// Identifies this opening: answers to requests of an earlier opening have another number.
    let number: Int
    /// Nil if no group has the chat's id.
    let groupID: GroupID?
    /// The oldest stored message that was read, shown or not.
    var oldestRead: StoredMessage.Position?
    /// The maximum number of messages shown; raised when older ones are requested.
    var shownLimit = CoreModel.maximumShown
    /// The times of the shown messages, which determine their positions.
    var times: [EventID: Int64] = [:]
    /// Reactions to messages that are not shown, by target: they are on newer pages than their targets.
    private(set) var reactions: [EventID: [LooseReaction]] = [:]
    private var looseCount = 0

    /// A reaction whose target is not shown.
    struct LooseReaction: Sendable, Hashable {
        let position: StoredMessage.Position
        let sender: PublicKey
        let emoji: String
    }

    private static let maximumLoose = 10_000

    init(number: Int, groupID: GroupID?) {
        self.number = number
        self.groupID = groupID
    }

    mutating func keep(_ reaction: LooseReaction, to target: EventID) {
        guard self.looseCount < Self.maximumLoose else { return }
        self.looseCount += 1
        self.reactions[target, default: []].append(reaction)
    }

    /// Removes and returns the reactions that waited for a message, oldest first.
    mutating func takeReactions(to target: EventID) -> [LooseReaction] {
        guard let found = self.reactions.removeValue(forKey: target) else { return [] }
        self.looseCount -= found.count
        return found.sorted { $0.position < $1.position }
    }
}

/// The sort key of a chat in the list, which is ordered by newest message first.
struct ChatPlace: Hashable, Comparable, Sendable {
    let time: Int64
    let chatID: String

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
