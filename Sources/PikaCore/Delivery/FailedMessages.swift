import MLS
import Nostr

/// This account's messages that no relay accepted, by their keys in ``SeenEvents``.
struct FailedMessages: Sendable {
    private var messages: [EventID: FailedMessage] = [:]

    var count: Int { self.messages.count }
    var isEmpty: Bool { self.messages.isEmpty }

    var all: some Sequence<FailedMessage> { self.messages.values }

    subscript(key: EventID) -> FailedMessage? { self.messages[key] }

    /// Adds and stores a message; beyond the maximum number the oldest one is removed.
    mutating func add(_ message: FailedMessage, _ key: EventID, _ step: inout CoreStep) {
        self.messages[key] = message
        step.changes.append(.putMemo(MemoName(.failedMessage, key.bytes), message.memo))
        guard self.messages.count > FailedMessage.maximumCount,
            let oldest = self.messages.min(by: { ($0.value.failedAt, $0.key) < ($1.value.failedAt, $1.key) })
        else { return }
        self.remove(oldest.key, &step)
    }

    mutating func remove(_ key: EventID, _ step: inout CoreStep) {
        guard self.messages.removeValue(forKey: key) != nil else { return }
        step.changes.append(.putMemo(MemoName(.failedMessage, key.bytes), nil))
    }

    /// Restores a message; false if the memo is unreadable.
    mutating func restore(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard let key = try? EventID(bytes: key), let message = FailedMessage(memo: memo) else { return false }
        self.messages[key] = message
        return true
    }
}
