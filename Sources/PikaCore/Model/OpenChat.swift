import MLS
import Nostr

/// What the core has to know of the chat that is open, beyond what it shows.
struct OpenChat: Sendable {
    /// Of what came before an answer: another opening of the same chat has another number.
    let number: Int
    /// Nil if no group has the chat's id.
    let groupID: GroupID?
    /// The oldest stored message that was read, whether it is shown or not.
    var oldestRead: StoredMessage.Position?
    /// Messages that are shown at most; it rises when older ones are asked for.
    var shownLimit = CoreModel.maximumShown
    /// When the messages that are shown were written: where they stand.
    var times: [EventID: Int64] = [:]
    /// Reactions to messages that are not shown, by target: they come with newer pages than their targets.
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

    /// The reactions that waited for a message, oldest first.
    mutating func takeReactions(to target: EventID) -> [LooseReaction] {
        guard let found = self.reactions.removeValue(forKey: target) else { return [] }
        self.looseCount -= found.count
        return found.sorted { $0.position < $1.position }
    }
}

/// Where a chat stands in the list: the newest message first.
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
    /// The first index whose element does not come before something, in a collection that is in order.
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
