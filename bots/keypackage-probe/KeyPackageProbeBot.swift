package import BotKit
import ProbeReports
import Synchronization

/// Checks, on a schedule and on request, whether accounts can be found and invited.
package struct KeyPackageProbeBot: Bot {
    /// The bot's name in configurations.
    package static let name = "keypackage-probe"
    /// The module of `/probe?module=…`.
    static let module = "keypackage"

    private let settings: ProbeSettings
    private let reporter = KeyPackageReporter()
    private let batchCounter = BatchCounter()

    /// Throws ``BotSettingsError`` with all problems of the settings.
    package init(settings: BotSettings) throws {
        self.settings = try ProbeSettings(settings)
    }

    /// The handlers of the schedule and of requests.
    package var handlers: [Handler] {
        OnSchedule("probe", .every(settings.interval)) { context in
            try await probe(settings.batch(batchCounter.next()), context)
        }
        OnProbe(Self.module) { request, context in
            guard let target = settings.target(named: request.target) else {
                throw BotError(.probeRefused, "unknown target: not a configured target")
            }
            let report = try await probe(target, for: min(settings.timeout, request.timeout * 0.9), context)
            return ProbeAnswer(
                isSuccess: report.isSuccess, samples: report.samples(now: context.now))
        }
    }

    private func probe(_ targets: [ProbeSettings.Target], _ context: BotContext) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for target in targets {
                group.addTask {
                    let began = context.services.clock.nowMilliseconds
                    let report = try await probe(target, for: settings.timeout, context)
                    let took = Double(context.services.clock.nowMilliseconds - began) / 1000
                    reporter.report(report, of: target.name, took: took, context)
                }
            }
            try await group.waitForAll()
        }
    }

    private func probe(
        _ target: ProbeSettings.Target, for time: Duration, _ context: BotContext
    ) async throws -> KeyPackageReport {
        try await context.services.keyPackageProbes.probe(
            KeyPackageProbeRequest(
                account: target.account, relays: settings.relays, expectation: settings.expectation,
                staleAfter: settings.stale, timeout: time))
    }
}

/// Counts runs to select the next batch. The time cannot select it, because a run that becomes due during another is
/// skipped.
private final class BatchCounter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            defer { count &+= 1 }
            return count
        }
    }
}
