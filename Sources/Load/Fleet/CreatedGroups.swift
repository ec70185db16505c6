import PikaCore

/// Chat ids of the created groups, by group number.
struct CreatedGroups: Sendable {
    /// Group numbers, ascending. Kept sorted, because the recipient of every message is drawn from them.
    private(set) var numbers: [Int] = []
    private var chats: [Int: ChatID] = [:]

    subscript(group: Int) -> ChatID? { self.chats[group] }

    mutating func note(_ chatID: ChatID, of group: Int) {
        guard self.chats.updateValue(chatID, forKey: group) == nil else { return }
        // Searched from the end, because groups are created nearly in ascending order.
        let position = self.numbers.lastIndex { $0 < group }.map { $0 + 1 } ?? 0
        self.numbers.insert(group, at: position)
    }
}
