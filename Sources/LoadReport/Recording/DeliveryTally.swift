/// Result of a message at one of its receivers.
package enum DeliveryResult: Sendable {
    /// Decrypted for the first time, and after every earlier message of its sender that arrives.
    case inOrder
    /// Decrypted for the first time, but after a later one of the same sender.
    case outOfOrder
    /// Delivered again.
    case duplicate
}

/// Deliveries in one time slot.
struct DeliverySlot: TimeSlot {
    var expected = 0
    var delivered = 0

    mutating func merge(_ later: DeliverySlot) {
        expected += later.expected
        delivered += later.delivered
    }
}

/// A gauge's last value in one time slot.
struct GaugeSlot: TimeSlot {
    var value: Double?

    mutating func merge(_ later: GaugeSlot) { value = later.value ?? value }
}
