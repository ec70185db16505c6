extension LoadSeries {
    /// Merges all operations and gauges to a common slot width and length.
    init(_ states: [(LoadOperation, OperationTrack.State)], _ tallies: RunTallies) {
        let widths = states.map(\.1.slots.width) + tallies.gauges.values.map(\.width) + [tallies.deliveries.width]
        let width = widths.max() ?? 1
        let slots = states.map { ($0, $1.slots.coarsened(to: width)) }
        let gauges = tallies.gauges.mapValues { $0.coarsened(to: width).map(\.value) }
        let deliveries = tallies.deliveries.coarsened(to: width)
        let length = (slots.map(\.1.count) + gauges.values.map(\.count) + [deliveries.count]).max() ?? 0
        self.init(
            interval: width,
            operations: slots.map { Operation(name: $0.name, slots: $1.padded(to: length)) },
            gauges: gauges.mapValues { $0 + [Double?](repeating: nil, count: length - $0.count) },
            expected: deliveries.padded(to: length).map(\.expected),
            delivered: deliveries.padded(to: length).map(\.delivered),
            aggregate: Aggregate.course(slots.map(\.1), length: length))
    }
}

extension LoadSeries.Operation {
    fileprivate init(name: String, slots: [OperationSlot]) {
        self.init(
            name: name, count: slots.map { Int(clamping: $0.counts.total) }, failures: slots.map(\.failures),
            p50: slots.map { $0.percentile(50) }, p95: slots.map { $0.percentile(95) },
            p99: slots.map { $0.percentile(99) })
    }
}

extension LoadSeries.Aggregate {
    fileprivate static func course(_ operations: [[OperationSlot]], length: Int) -> [Self] {
        var all = OperationSlot()
        return (0..<length).map { index in
            for slots in operations where index < slots.count { all.merge(slots[index]) }
            return Self(all)
        }
    }

    private init(_ slot: OperationSlot) {
        let total = slot.counts.total
        let found = LoadPercentile.allCases.compactMap { key in slot.percentile(key.percent).map { (key, $0) } }
        self.init(
            count: Int(clamping: total), failures: slot.failures, min: total > 0 ? slot.minimum.loadSeconds : nil,
            mean: total > 0 ? (slot.sumNanoseconds / Double(total)).rounded() / 1e9 : nil,
            max: total > 0 ? slot.maximum.loadSeconds : nil, percentiles: Dictionary(uniqueKeysWithValues: found))
    }
}

extension Array where Element: TimeSlot {
    fileprivate func padded(to length: Int) -> [Element] {
        self + [Element](repeating: Element(), count: Swift.max(0, length - count))
    }
}
