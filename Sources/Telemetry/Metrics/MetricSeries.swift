import CoreMetrics
import Synchronization

/// The value of one metric for one set of labels, written through swift-metrics.
///
/// Each series has its own lock, so that writes never contend across series.
final class MetricSeries: Sendable {
    private struct Content {
        var value = 0.0
        /// Observations per bucket (not cumulative), the last for those above all bounds.
        var counts: [UInt64] = []
    }

    let description: MetricDescription
    let labelValues: [String]
    private let content: Mutex<Content>

    init(_ description: MetricDescription, labelValues: [String]) {
        self.description = description
        self.labelValues = labelValues
        let isHistogram = description.kind == .histogram
        content = Mutex(Content(counts: isHistogram ? Array(repeating: 0, count: description.bounds.count + 1) : []))
    }

    /// The current value in the form of the export.
    var series: MetricFamily.Series {
        let (value, counts) = content.withLock { ($0.value, $0.counts) }
        let labels = zip(description.labels, labelValues).map { MetricFamily.Label($0, $1) }
        var total: UInt64 = 0
        let buckets = counts.map { count in
            total &+= count
            return total
        }
        return MetricFamily.Series(labels: labels, value: value, buckets: buckets)
    }

    private func add(_ amount: Double) {
        guard amount.isFinite else { return }
        content.withLock { $0.value += amount }
    }

    private func observe(_ value: Double) {
        guard value.isFinite else { return }
        let place = description.bounds.firstIndex { value <= $0 } ?? description.bounds.count
        content.withLock {
            $0.value += value
            $0.counts[place] &+= 1
        }
    }

    private func replace(_ value: Double) {
        guard value.isFinite else { return }
        content.withLock { $0.value = value }
    }
}

extension MetricSeries: CounterHandler, FloatingPointCounterHandler {
    func increment(by amount: Int64) { if amount > 0 { add(Double(amount)) } }
    func increment(by amount: Double) { if description.kind == .gauge || amount > 0 { add(amount) } }
    func reset() { replace(0) }
}

extension MetricSeries: RecorderHandler, MeterHandler {
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { description.kind == .histogram ? observe(value) : replace(value) }
    func set(_ value: Int64) { replace(Double(value)) }
    func set(_ value: Double) { replace(value) }
    func decrement(by amount: Double) { add(-amount) }
}

extension MetricSeries: TimerHandler {
    func recordNanoseconds(_ duration: Int64) { observe(Double(max(0, duration)) / 1e9) }
}
