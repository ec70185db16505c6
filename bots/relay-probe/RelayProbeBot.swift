package import BotKit
import ProbeReports

/// Probes relays: on a schedule, for a Prometheus server, and by a chat command. `docs/relay-probe.md` describes it.
package struct RelayProbeBot: Bot {
    /// The bot's name in configurations.
    package static let name = "relay-probe"

    private let settings: RelayProbeSettings
    private let slots = ProbeSlots(8)
    private let exporter = RelayMetricsExporter()

    /// Throws ``BotSettingsError`` with all problems of the settings.
    package init(settings: BotSettings) throws {
        self.settings = try RelayProbeSettings(settings)
    }

    /// The handlers of the schedules, of requests and of the command.
    package var handlers: [Handler] {
        for index in settings.targets.indices { schedule(settings.targets[index], slot: index) }
        OnProbe("relay") { try await answer($0, $1, writes: true) }
        OnProbe("relay_read") { try await answer($0, $1, writes: false) }
        OnCommand("probe", help: "Probes a relay.", arguments: [.word("relay")], matching: .fromOperator) {
            await reply($0, $1)
        }
        if settings.announces {
            OnSchedule("announcement", .every(.seconds(3600))) { try await announce($0) }
        }
    }
}

// MARK: Scheduled probes

extension RelayProbeBot {
    /// The maximum delay of a probe's start, so that it finishes within the handler's deadline.
    private static let maximumDelay = Duration.seconds(4)

    /// Returns the schedule of a target. Each target is delayed by its own slot, so that not all are probed at once,
    /// and by a random part of a slot, so that several such bots do not probe in step.
    private func schedule(_ target: RelayProbeSettings.Target, slot: Int) -> OnSchedule {
        let share = min(settings.every / 4, Self.maximumDelay) / settings.targets.count
        return OnSchedule("probe \(target.label)", .every(settings.every)) { context in
            let wait = share * (Double(slot) + Double.random(in: 0..<1))
            try await context.services.clock.sleep(
                untilMilliseconds: context.nowMilliseconds + Int64(wait / .milliseconds(1)))
            guard
                let request = settings.request(target.relay, writes: true, timeout: settings.timeout)
            else { return }
            let report = try await context.services.relayProbes.probe(request)
            export(report, of: target, context)
            guard settings.announces else { return }
            try await context.services.relayProbes.announce(.relay(report))
        }
    }

    private func export(_ report: RelayProbeReport, of target: RelayProbeSettings.Target, _ context: BotContext) {
        exporter.export(report, of: target.label, context.services.metrics)
        guard !report.isGood else { return }
        context.logger.warning(
            "Relay probe failed", metadata: ["target": "\(target.label)", "verdict": "\(report.verdict)"])
    }

    private func announce(_ context: BotContext) async throws {
        try await context.services.relayProbes.announce(.monitor(every: settings.every, timeout: settings.timeout))
    }
}

// MARK: Requested probes

extension RelayProbeBot {
    private func answer(_ asked: ProbeRequest, _ context: BotContext, writes: Bool) async throws -> ProbeAnswer {
        let report = try await probe(asked.target, writes: writes, timeout: asked.timeout, context)
        return ProbeAnswer(isSuccess: report.isGood, samples: report.samples())
    }

    private func reply(_ command: Command, _ context: BotContext) async {
        do {
            let report = try await probe(
                command.arguments.first ?? "", writes: true, timeout: settings.timeout, context)
            context.reply("\(report.relay): \(report.verdict)")
        } catch let error as BotError {
            context.reply(error.message)
        } catch {
            context.reply("The probe was cancelled.")
        }
    }

    private func probe(
        _ target: String, writes: Bool, timeout: Duration, _ context: BotContext
    ) async throws -> RelayProbeReport {
        guard let relay = try? RelayURL(target) else {
            throw BotError(.probeRefused, "not a relay URL: write wss://HOST")
        }
        // Reserves part of the requester's timeout for returning the answer.
        guard let request = settings.request(relay, writes: writes, timeout: timeout * 0.95) else {
            throw BotError(.probeRefused, "this relay is neither a target nor allowed")
        }
        guard slots.acquire() else { throw BotError(.probeRefused, "too many concurrent probes") }
        defer { slots.release() }
        return try await context.services.relayProbes.probe(request)
    }
}
