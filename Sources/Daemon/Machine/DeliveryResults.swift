import Nostr
import PikaCore

/// Delivery results of this account's recent messages, and the commands that wait for them. Pure.
struct DeliveryResults: Sendable {
    /// Bound on remembered results; enough, because a command asks for its message's result at once.
    private static let capacity = 512

    private var known: [EventID: AppState.Delivery] = [:]
    private var order: [EventID] = []
    private var waiting: [EventID: Promise<AppState.Delivery>] = [:]

    /// Records a message's result; returns the promise that waits for it.
    mutating func record(_ delivery: AppState.Delivery, of messageID: EventID) -> Promise<AppState.Delivery>? {
        if case .pending = delivery { return nil }
        if self.known.updateValue(delivery, forKey: messageID) == nil {
            self.order.append(messageID)
            if self.order.count > Self.capacity { self.known[self.order.removeFirst()] = nil }
        }
        return self.waiting.removeValue(forKey: messageID)
    }

    /// Returns a message's result; nil if it is unknown, and then `promise` waits for it.
    mutating func result(of messageID: EventID, or promise: Promise<AppState.Delivery>) -> AppState.Delivery? {
        if let delivery = self.known[messageID] { return delivery }
        self.waiting[messageID] = promise
        return nil
    }

    /// Returns every promise that waits, at the end.
    mutating func end() -> [Promise<AppState.Delivery>] {
        defer { self.waiting = [:] }
        return Array(self.waiting.values)
    }
}
