import NIOCore

/// One subscription's way from stored to live events, without a gap and without a repetition.
///
/// Live delivery starts before the store is asked, and what arrives meanwhile is held. The store's answer says
/// up to which place in the store it was complete; held or later live events at or before it are dropped.
struct SubscriptionFeed: Hashable, Sendable {
    enum Delivery: Hashable, Sendable {
        case send
        /// Held, already sent as stored, or for a subscription that is gone.
        case drop
        /// More is held than the client may have waiting.
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
            // Emptied first, so that appending does not copy what is held.
            phase = .catchingUp(held: [], bytes: 0)
            held.append(event)
            phase = .catchingUp(held: held, bytes: bytes + event.message.readableBytes)
            return .drop
        }
    }

    /// - Parameter snapshot: the last place in the store that the answer covered.
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
