import NIOCore

/// Transition of one subscription from stored to live events, without gaps and duplicates.
///
/// Live delivery starts before the store is queried, and live events are held meanwhile. The store's answer states the
/// last sequence number that it covers; live events up to that number are dropped.
struct SubscriptionFeed: Hashable, Sendable {
    enum Delivery: Hashable, Sendable {
        case send
        /// Held, already sent as a stored event, or for an ended subscription.
        case drop
        /// The held events exceed the client's backlog limit.
        case overflow
    }

    private enum Phase: Hashable, Sendable {
        case catchingUp(held: [LiveEvent], bytes: Int)
        case live(after: Int64)
    }

    let serial: UInt64
    private var phase = Phase.catchingUp(held: [], bytes: 0)

    init(serial: UInt64) {
        self.serial = serial
    }

    mutating func delivered(_ event: LiveEvent, heldLimit: Int) -> Delivery {
        switch phase {
        case .live(let after):
            return event.isAfter(after) ? .send : .drop
        case .catchingUp(var held, let bytes):
            guard bytes + event.message.readableBytes <= heldLimit else { return .overflow }
            // Empty the phase first, so that appending does not copy the held events.
            phase = .catchingUp(held: [], bytes: 0)
            held.append(event)
            phase = .catchingUp(held: held, bytes: bytes + event.message.readableBytes)
            return .drop
        }
    }

    /// - Parameter snapshot: the last sequence number that the answer covers.
    /// - Returns: the held events to send after EOSE, in order.
    mutating func answered(snapshot: Int64) -> [LiveEvent] {
        guard case .catchingUp(let held, _) = phase else { return [] }
        phase = .live(after: snapshot)
        return held.filter { $0.isAfter(snapshot) }
    }
}

extension LiveEvent {
    fileprivate func isAfter(_ snapshot: Int64) -> Bool {
        sequence.map { $0 > snapshot } ?? true
    }
}
