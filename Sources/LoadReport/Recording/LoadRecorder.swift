import Synchronization

/// Records the measurements of a load run; thread-safe.
///
/// Every moment is a time since the start of the run by the caller's clock. One record costs a microsecond at most and
/// never waits for a report; memory is bounded, however long the run is.
package final class LoadRecorder: Sendable {
    /// Resolution of the recorded time series.
    package struct Configuration: Sendable {
        /// Maximum number of time slots; a run with more seconds has slots of two, four, eight … seconds.
        package var slots: Int

        package init(slots: Int = 600) { self.slots = slots }
    }

    let configuration: Configuration
    let tracks: [OperationTrack]
    let tallies: Mutex<RunTallies>

    /// Maximum number of faults recorded.
    static let faultLimit = 1_000

    package init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        tracks = LoadOperation.allCases.map { _ in OperationTrack(capacity: configuration.slots) }
        tallies = Mutex(RunTallies(capacity: configuration.slots))
    }
}

// MARK: Operations

extension LoadRecorder {
    /// Records a successful operation.
    ///
    /// - Parameters:
    ///   - intended: The planned start of the operation (open model). The latency counts from there, so it
    ///     includes the wait for the start; the time from `start` is recorded as the service time.
    package func success(
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

    /// Records a successful operation of a closed user, who thinks after it and only then starts the next one.
    /// Percentiles are corrected for the operations that a long wait suppressed (HdrHistogram's correction for
    /// coordinated omission).
    package func success(_ operation: LoadOperation, from start: Duration, to end: Duration, thinking: Duration) {
        tracks[operation.rawValue].success(
            latency: (end - start).loadNanoseconds, thinking: thinking.loadNanoseconds, at: end.loadNanoseconds)
    }

    /// Records a failed operation.
    ///
    /// - Parameter reason: A few words without numbers or names. After 32 different reasons, further ones are counted
    ///   as `other`.
    package func failure(_ operation: LoadOperation, reason: String, at moment: Duration) {
        tracks[operation.rawValue].failure(reason, at: moment.loadNanoseconds)
    }

    /// Records the generator's lag: the delay of a start against the plan.
    package func started(intended: Duration, actual: Duration) {
        let lag = (actual - intended).loadNanoseconds
        tallies.withLock { $0.lag.record(lag) }
    }
}

// MARK: Messages

extension LoadRecorder {
    /// Records that a relay has accepted a message for `count` members.
    package func expectDeliveries(_ count: Int, at moment: Duration) {
        tallies.withLock { tallies in
            tallies.correctness.expected += count
            tallies.deliveries.update(at: moment.loadNanoseconds) { $0.expected += count }
        }
    }

    /// Records deliveries that are no longer expected: a member was removed or left, or the sender cannot send the message
    /// again.
    package func excuseDeliveries(_ count: Int, at moment: Duration) {
        tallies.withLock { tallies in
            tallies.correctness.expected -= count
            tallies.correctness.excused += count
            tallies.deliveries.update(at: moment.loadNanoseconds) { $0.expected -= count }
        }
    }

    /// Records that a member decrypted a message; its latency is recorded separately, as ``LoadOperation/deliver``.
    package func delivered(_ delivery: DeliveryResult, at moment: Duration) {
        tallies.withLock { $0.count(delivery, at: moment.loadNanoseconds) }
    }
}

// MARK: Groups

extension LoadRecorder {
    /// Records that `count` invited agents reached a stage.
    package func reached(_ stage: JoinStage, count: Int = 1) {
        tallies.withLock { $0.reached[stage.rawValue] += count }
    }

    /// Records that an invited agent will not reach this stage.
    package func lost(before stage: JoinStage, reason: String, at moment: Duration) {
        tallies.withLock { $0.lost[stage.rawValue].add(reason, at: moment.loadNanoseconds) }
    }

    /// Records a commit that lost a race against another one of the same epoch.
    package func conflict() { tallies.withLock { $0.correctness.conflicts += 1 } }

    /// Records a comparison of a member's view of its group (epoch, members, secret) with the others'.
    package func compared(diverged: Bool) {
        tallies.withLock { tallies in
            tallies.correctness.compared += 1
            if diverged { tallies.correctness.diverged += 1 }
        }
    }
}

// MARK: The run

extension LoadRecorder {
    /// Sets a gauge's value from now on.
    package func gauge(_ gauge: LoadGauge, _ value: Double, at moment: Duration) {
        guard value.isFinite else { return }
        tallies.withLock { $0.note(gauge, value, at: moment.loadNanoseconds, capacity: configuration.slots) }
    }

    /// Records the start of a fault; returns its number for ``ended(fault:at:)``, or nil if there were too many.
    @discardableResult
    package func injected(_ fault: LoadFault) -> Int? {
        tallies.withLock { tallies in
            guard tallies.faults.count < Self.faultLimit else { return nil }
            tallies.faults.append(fault)
            return tallies.faults.count - 1
        }
    }

    /// Records the actual end of a fault.
    package func ended(fault number: Int?, at moment: Duration) {
        tallies.withLock { tallies in
            if let number, tallies.faults.indices.contains(number) {
                tallies.faults[number].to = moment.loadNanoseconds.loadSeconds
            }
        }
    }

    /// Records an internal error of the generator, which may have distorted the result.
    package func exception(_ message: String, at moment: Duration) {
        tallies.withLock { $0.exceptions.add(message, at: moment.loadNanoseconds) }
    }
}
