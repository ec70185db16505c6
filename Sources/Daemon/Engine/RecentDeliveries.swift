import Nostr
import PikaCore

/// Delivery results of recent own messages, and the commands that wait for them.
struct RecentDeliveries {
    /// Bound on remembered results; enough, because a command asks for its message's result at once.
    private static let capacity = 512

    private var known: [EventID: AppState.Delivery] = [:]
    private var order: [EventID] = []
    private var waiting: [EventID: Answer<AppState.Delivery>] = [:]

    mutating func note(_ delivery: AppState.Delivery, of messageID: EventID) {
        if case .pending = delivery { return }
        if self.known.updateValue(delivery, forKey: messageID) == nil {
            self.order.append(messageID)
            if self.order.count > Self.capacity { self.known[self.order.removeFirst()] = nil }
        }
        self.waiting.removeValue(forKey: messageID)?.give(delivery)
    }

    mutating func answer(of messageID: EventID) -> Answer<AppState.Delivery> {
        let answer = Answer<AppState.Delivery>()
        if let delivery = self.known[messageID] {
            answer.give(delivery)
        } else {
            self.waiting[messageID] = answer
        }
        return answer
    }

    mutating func end() {
        for answer in self.waiting.values { answer.give(nil) }
        self.waiting = [:]
    }
}
