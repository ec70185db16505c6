/// Data of one time slot that can be merged with the next slot's.
protocol TimeSlot: Sendable {
    init()
    mutating func merge(_ later: Self)
}

/// Time series with a slot per second; when there are too many, per two, four, eight seconds and so on.
struct TimeSlots<Slot: TimeSlot>: Sendable {
    /// Width of a slot in seconds: a power of two.
    private(set) var width = 1
    private(set) var slots: [Slot] = []
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(2, capacity) }

    /// Changes the slot of a moment of the run.
    mutating func update(at nanoseconds: UInt64, _ change: (inout Slot) -> Void) {
        let second = Int(nanoseconds / 1_000_000_000)
        while second / width >= capacity { coarsen() }
        let index = second / width
        while slots.count <= index { slots.append(Slot()) }
        change(&slots[index])
    }

    /// Returns the slots merged to a width that is this one or a larger one.
    func coarsened(to wanted: Int) -> [Slot] {
        var copy = self
        while copy.width < wanted { copy.coarsen() }
        return copy.slots
    }

    private mutating func coarsen() {
        var halved: [Slot] = []
        for index in stride(from: 0, to: slots.count, by: 2) {
            var slot = slots[index]
            if index + 1 < slots.count { slot.merge(slots[index + 1]) }
            halved.append(slot)
        }
        slots = halved
        width *= 2
    }
}
