import MLS
import Nostr

/// The core's bookkeeping for chats beyond the state that is shown: their stored records, their places in the list, the
/// open chat, and the expiry of their messages.
struct Chats: Sendable {
    private var records: [GroupID: ChatRecord] = [:]
    /// Chats whose record is not in the step's changes yet.
    private var dirty: Set<GroupID> = []
    /// The position of each chat in the list.
    private(set) var places: [GroupID: ChatPlace] = [:]
    /// The chat on the top screen.
    var open: OpenChat?
    var typing = TypingNotices()
    /// The number of the last opening.
    private(set) var lastOpening = 0
    private var expiry = MessageExpiry()

    // MARK: Records

    subscript(groupID: GroupID) -> ChatRecord? { self.records[groupID] }

    /// The chats whose last message satisfies a condition.
    func withLastMessage(where condition: (ChatRecord) -> Bool) -> [GroupID] {
        self.records.filter { $0.value.lastMessage != nil && condition($0.value) }.map(\.key)
    }

    /// Changes the record of a chat; ``store(_:)`` makes it durable in the same turn. Returns nil if nothing changed.
    mutating func change(_ groupID: GroupID, _ change: (inout ChatRecord) -> Void) -> ChatRecord? {
        let before = self.records[groupID] ?? ChatRecord()
        var record = before
        change(&record)
        guard record != before else { return nil }
        self.records[groupID] = record
        self.dirty.insert(groupID)
        return record
    }

    mutating func store(_ step: inout CoreStep) {
        for groupID in self.dirty {
            step.changes.append(.putMemo(MemoName(.chat, groupID), self.records[groupID]?.memo))
        }
        self.dirty = []
    }

    /// Restores a record; false if the memo is unreadable.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        self.records[groupID] = ChatRecord(memo: memo)
        return self.records[groupID] != nil
    }

    // MARK: Places

    mutating func replacePlaces(_ places: [GroupID: ChatPlace]) { self.places = places }

    mutating func move(_ groupID: GroupID, to place: ChatPlace) { self.places[groupID] = place }

    // MARK: Expiry

    /// Registers the expiry of a stored message.
    mutating func registerExpiry(_ time: UnixTime?, _ step: inout CoreStep) { self.expiry.register(time, &step) }

    /// Deletes expired messages from the store when they are due. Returns whether messages have expired.
    mutating func deleteExpired(_ step: inout CoreStep) -> Bool { self.expiry.wakeUp(&step) }

    // MARK: The open chat

    /// Opens a chat; nil if no group has its id. Returns the number of the opening.
    @discardableResult
    mutating func begin(_ groupID: GroupID?) -> Int {
        self.lastOpening += 1
        self.open = OpenChat(number: self.lastOpening, groupID: groupID)
        return self.lastOpening
    }
}
