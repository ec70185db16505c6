/// What became of a message at one of the members it was for.
public enum Delivery: Sendable {
    /// Decrypted for the first time, and after every earlier message of its sender that arrives at all.
    case inOrder
    /// Decrypted for the first time, but after a later one of the same sender.
    case outOfOrder
    /// Handed out once more.
    case duplicate
}

/// Deliveries in one slot of time.
struct DeliverySlot: TimeSlot {
    var expected = 0
    var delivered = 0

    mutating func merge(_ later: DeliverySlot) {
        expected += later.expected
        delivered += later.delivered
    }
}

/// A gauge in one slot of time: its last value.
struct GaugeSlot: TimeSlot {
    var value: Double?

    mutating func merge(_ later: GaugeSlot) { value = later.value ?? value }
}
