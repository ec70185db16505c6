import Synchronization

/// Where a load run writes down what happens, from any number of threads.
///
/// Every moment is the time since the start of the run, as the caller's clock says. One record costs about a
/// microsecond at most and never waits for a report; memory is bounded, however long the run is.
public final class LoadRecorder: Sendable {
    /// How much of the course of the run is kept.
    public struct Configuration: Sendable {
        /// At most so many slots of time; a run of more seconds has slots of two, four, eight … seconds.
        public var slots: Int

        public init(slots: Int = 600) { self.slots = slots }
    }

    let configuration: Configuration
    let tracks: [OperationTrack]
    let tallies: Mutex<RunTallies>

    /// Faults past this number are not written down.
    static let faultLimit = 1_000

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        tracks = LoadOperation.allCases.map { _ in OperationTrack(capacity: configuration.slots) }
        tallies = Mutex(RunTallies(capacity: configuration.slots))
    }
}

// MARK: Operations

extension LoadRecorder {
    /// An operation succeeded.
    ///
    /// - Parameters:
    ///   - intended: When the plan wanted it to start, at an open arrival rate. The latency counts from there, so what it
    ///     waited for its turn is part of it; the time from `start` is kept beside it as the service time.
    public func success(
        _ operation: LoadOperation, from start: Duration, to end: Duration, intended: Duration? = nil
    ) {
        let service = (end - start).loadNanoseconds
        let track = tracks[operation.rawValue]
        guard let intended else {
            track.success(latency: service, at: end.loadNanoseconds)
            return
        }
        let latency = max(service, (end - intended).loadNanoseconds)
        track.success(latency: latency, service: service, at: end.loadNanoseconds)
    }

    /// An operation of a closed user succeeded, who thinks after it and only then does the next one. What a long wait
    /// suppressed is filled in when percentiles are told (HdrHistogram's correction for coordinated omission).
    public func success(_ operation: LoadOperation, from start: Duration, to end: Duration, thinking: Duration) {
        tracks[operation.rawValue].success(
            latency: (end - start).loadNanoseconds, thinking: thinking.loadNanoseconds, at: end.loadNanoseconds)
    }

    /// An operation failed.
    ///
    /// - Parameter reason: Some short words without numbers or names in them. Of more than 32 different ones the rest
    ///   is counted as `other`.
    public func failure(_ operation: LoadOperation, reason: String, at moment: Duration) {
        tracks[operation.rawValue].failure(reason, at: moment.loadNanoseconds)
    }

    /// The generator started something, later than the plan wanted or in time: its lag.
    public func started(intended: Duration, actual: Duration) {
        let lag = (actual - intended).loadNanoseconds
        tallies.withLock { $0.lag.record(lag) }
    }
}

// MARK: Messages

extension LoadRecorder {
    /// A message was accepted by a relay that `count` members are to read.
    public func expectDeliveries(_ count: Int, at moment: Duration) {
        tallies.withLock { tallies in
            tallies.correctness.expected += count
            tallies.deliveries.update(at: moment.loadNanoseconds) { $0.expected += count }
        }
    }

    /// So many of the expected deliveries cannot be asked for any more: the member was removed, or left.
    public func excuseDeliveries(_ count: Int, at moment: Duration) {
        tallies.withLock { tallies in
            tallies.correctness.expected -= count
            tallies.correctness.excused += count
            tallies.deliveries.update(at: moment.loadNanoseconds) { $0.expected -= count }
        }
    }

    /// A member decrypted a message; its latency is recorded on its own, as ``LoadOperation/deliver``.
    public func delivered(_ delivery: Delivery, at moment: Duration) {
        tallies.withLock { $0.count(delivery, at: moment.loadNanoseconds) }
    }
}

// MARK: Groups

extension LoadRecorder {
    /// `count` invited agents reached a stage.
    public func reached(_ stage: JoinStage, count: Int = 1) {
        tallies.withLock { $0.reached[stage.rawValue] += count }
    }

    /// An invited agent never reached this stage.
    public func lost(before stage: JoinStage, reason: String, at moment: Duration) {
        tallies.withLock { $0.lost[stage.rawValue].add(reason, at: moment.loadNanoseconds) }
    }

    /// A commit lost a race against another of the same epoch.
    public func conflict() { tallies.withLock { $0.correctness.conflicts += 1 } }

    /// A member's view of its group (epoch, members, secret) was compared with the others'.
    public func compared(diverged: Bool) {
        tallies.withLock { tallies in
            tallies.correctness.compared += 1
            if diverged { tallies.correctness.diverged += 1 }
        }
    }
}

// MARK: The run

extension LoadRecorder {
    /// The value of a gauge from now on.
    public func gauge(_ gauge: LoadGauge, _ value: Double, at moment: Duration) {
        guard value.isFinite else { return }
        tallies.withLock { $0.note(gauge, value, at: moment.loadNanoseconds, capacity: configuration.slots) }
    }

    /// A fault was put into the run; returns its number, for ``ended(fault:at:)``, and nil if there were too many.
    @discardableResult
    public func injected(_ fault: LoadFault) -> Int? {
        tallies.withLock { tallies in
            guard tallies.faults.count < Self.faultLimit else { return nil }
            tallies.faults.append(fault)
            return tallies.faults.count - 1
        }
    }

    /// A fault was over, whenever it was to be.
    public func ended(fault number: Int?, at moment: Duration) {
        tallies.withLock { tallies in
            if let number, tallies.faults.indices.contains(number) {
                tallies.faults[number].to = moment.loadNanoseconds.loadSeconds
            }
        }
    }

    /// Something went wrong in the generator itself, so that the result may not be what it seems.
    public func exception(_ message: String, at moment: Duration) {
        tallies.withLock { $0.exceptions.add(message, at: moment.loadNanoseconds) }
    }
}
