import PikaCore

/// The groups that exist, with their chats.
struct CreatedGroups: Sendable {
    /// The groups' numbers, ascending: a message goes to a random one, so they must not be sorted for each message.
    private(set) var numbers: [Int] = []
    private var chats: [Int: ChatID] = [:]

    subscript(group: Int) -> ChatID? { self.chats[group] }

    mutating func note(_ chatID: ChatID, of group: Int) {
        guard self.chats.updateValue(chatID, forKey: group) == nil else { return }
        // Groups are created nearly in this order.
        let position = self.numbers.lastIndex { $0 < group }.map { $0 + 1 } ?? 0
        self.numbers.insert(group, at: position)
    }
}
