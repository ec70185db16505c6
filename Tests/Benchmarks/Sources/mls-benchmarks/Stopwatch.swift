import Foundation

/// CPU time of one operation over its repetitions, in milliseconds.
struct Timing {
    let median: Double
    let minimum: Double
    let repetitions: Int
}

/// Measures process CPU time, which other work on the machine disturbs less than wall time.
struct Stopwatch {
    /// CPU seconds that a row may spend.
    var budget = 1.0
    var minimumRepetitions = 5
    var maximumRepetitions = 4000

    /// Runs `body` until the budget is spent; each call does `batch` operations.
    ///
    /// - Parameter clock: the seconds to count, by default those of the processors.
    func measure(
        batch: Int = 1, by clock: () -> Double = Self.now, _ body: () throws -> Void
    ) rethrows -> Timing {
        try body()
        var samples: [Double] = []
        var spent = 0.0
        while samples.count < self.minimumRepetitions
            || (spent < self.budget && samples.count < self.maximumRepetitions)
        {
            let start = clock()
            try body()
            let elapsed = clock() - start
            spent += elapsed
            samples.append(elapsed * 1000 / Double(batch))
        }
        samples.sort()
        return Timing(median: samples[samples.count / 2], minimum: samples[0], repetitions: samples.count)
    }

    /// CPU seconds of this process.
    static func now() -> Double { self.seconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// Seconds of a clock that goes on while several processors work.
    static func wall() -> Double { self.seconds(of: CLOCK_MONOTONIC) }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Keeps a result alive, so that the optimiser cannot drop the work behind it.
@inline(never) func consume<Value>(_ value: Value) {}
