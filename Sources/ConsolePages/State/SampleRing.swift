package import ConsoleReports

/// The counters of an account over the last hour: a ring of samples in memory.
package struct SampleRing: Sendable, Hashable {
    package struct Sample: Sendable, Hashable {
        /// Unix seconds.
        package var at: Int64
        /// Nil if the worker did not answer.
        package var counters: AccountCounters?

        package init(at: Int64, counters: AccountCounters?) {
            self.at = at
            self.counters = counters
        }
    }

    /// Seconds between two samples, and the number of samples: one hour and the sample before it.
    package static let interval: Int64 = 15
    package static let capacity = 241

    private var storage: [Sample] = []
    /// The index of the oldest sample once the ring is full.
    private var start = 0

    package init() {}

    package var count: Int { storage.count }

    /// The samples, oldest first.
    package var samples: [Sample] { Array(storage[start...] + storage[..<start]) }

    /// Unix seconds of the oldest sample; nil without one.
    package var beginning: Int64? { storage.isEmpty ? nil : storage[start].at }

    package var newest: Sample? {
        guard !storage.isEmpty else { return nil }
        return storage[start == 0 ? storage.count - 1 : start - 1]
    }

    /// Adds a sample unless the newest one is not yet ``interval`` old. A clock that was set back begins a new ring.
    package mutating func append(_ sample: Sample) {
        if let newest {
            let (age, overflow) = sample.at.subtractingReportingOverflow(newest.at)
            if overflow || age < 0 {
                self = SampleRing()
            } else if age < Self.interval {
                return
            }
        }
        guard storage.count == Self.capacity else {
            storage.append(sample)
            return
        }
        storage[start] = sample
        start = (start + 1) % Self.capacity
    }

    /// Returns the rise of a counter per minute between consecutive samples; nil where the worker did not answer or has
    /// restarted between them.
    package func rates(of counter: (AccountCounters) -> Double) -> [Double?] {
        pairs { old, new, seconds in
            let (before, after) = (counter(old), counter(new))
            return after >= before ? (after - before) * 60 / seconds : nil
        }
    }

    /// Returns the mean duration in milliseconds of the operations between consecutive samples.
    package func means(
        of seconds: (AccountCounters) -> Double, per count: (AccountCounters) -> Double
    ) -> [Double?] {
        pairs { old, new, _ in
            let operations = count(new) - count(old)
            guard operations > 0, seconds(new) >= seconds(old) else { return nil }
            return (seconds(new) - seconds(old)) / operations * 1_000
        }
    }

    /// Returns a gauge at each sample but the first, so that all series of a chart have the same length.
    package func values(of gauge: (AccountCounters) -> Double?) -> [Double?] {
        samples.dropFirst().map { $0.counters.flatMap(gauge) }
    }

    private func pairs(_ value: (AccountCounters, AccountCounters, Double) -> Double?) -> [Double?] {
        let samples = samples
        return zip(samples, samples.dropFirst()).map { old, new in
            guard let before = old.counters, let after = new.counters, new.at > old.at else { return nil }
            return value(before, after, Double(new.at) - Double(old.at))
        }
    }
}
