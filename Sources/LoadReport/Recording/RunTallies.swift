/// Counters of the whole run, apart from the operations.
struct RunTallies: Sendable {
    var correctness = LoadCorrectness()
    var reached = [Int](repeating: 0, count: JoinStage.allCases.count)
    var lost = [FailureReasons](repeating: FailureReasons(), count: JoinStage.allCases.count)
    var lag = LatencyTally()
    var faults: [LoadFault] = []
    var exceptions = FailureReasons()
    var deliveries: TimeSlots<DeliverySlot>
    var gauges: [LoadGauge: TimeSlots<GaugeSlot>] = [:]
    var current: [LoadGauge: Double] = [:]
    var peaks: [LoadGauge: Double] = [:]

    init(capacity: Int) { deliveries = TimeSlots(capacity: capacity) }

    mutating func note(_ gauge: LoadGauge, _ value: Double, at nanoseconds: UInt64, capacity: Int) {
        gauges[gauge, default: TimeSlots(capacity: capacity)].update(at: nanoseconds) { $0.value = value }
        current[gauge] = value
        peaks[gauge] = max(peaks[gauge] ?? value, value)
    }

    mutating func count(_ delivery: DeliveryResult, at nanoseconds: UInt64) {
        guard delivery != .duplicate else {
            correctness.duplicates += 1
            return
        }
        correctness.delivered += 1
        if delivery == .inOrder { correctness.inOrder += 1 }
        deliveries.update(at: nanoseconds) { $0.delivered += 1 }
    }
}
