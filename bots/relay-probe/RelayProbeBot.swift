public import BotKit

/// Probes relays: on a schedule, when a Prometheus server asks, and on command. `docs/relay-probe.md` describes it.
public struct RelayProbeBot: Bot {
    public static let name = "relay-probe"

    private let settings: RelayProbeSettings
    private let places = ProbePlaces(8)
    private let board = RelayBoard()

    /// Throws ``BotSettingsError`` with all problems of the settings.
    public init(settings: BotSettings) throws {
        self.settings = try RelayProbeSettings(settings)
    }

    public var handlers: [Handler] {
        for index in settings.targets.indices { watch(settings.targets[index], place: index) }
        OnProbe("relay") { try await answer($0, $1, writes: true) }
        OnProbe("relay_read") { try await answer($0, $1, writes: false) }
        OnCommand("probe", help: "Looks at a relay.", arguments: [.word("relay")], matching: .fromOperator) {
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
    private static let longestWait = Duration.seconds(4)

    /// Returns the schedule of a target. Each probe starts at its own place in the interval, so that the targets are
    /// not probed all at once, with a random delay, so that several such bots do not start together.
    private func watch(_ target: RelayProbeSettings.Target, place: Int) -> OnSchedule {
        let share = min(settings.every / 4, Self.longestWait) / settings.targets.count
        return OnSchedule("probe \(target.label)", .every(settings.every)) { context in
            let wait = share * (Double(place) + Double.random(in: 0..<1))
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
        board.show(report, of: target.label, context.services.metrics)
        guard !report.isGood else { return }
        context.logger.warning(
            "Relay failed its probe", metadata: ["target": "\(target.label)", "verdict": "\(report.verdict)"])
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
            context.reply("The probe was given up.")
        }
    }

    private func probe(
        _ target: String, writes: Bool, timeout: Duration, _ context: BotContext
    ) async throws -> RelayProbeReport {
        guard let relay = try? RelayURL(target) else {
            throw BotError(.probeRefused, "this is no relay's address: write wss://HOST")
        }
        // Reserves part of the requester's timeout for returning the answer.
        guard let request = settings.request(relay, writes: writes, timeout: timeout * 0.95) else {
            throw BotError(.probeRefused, "this relay is neither among the targets nor allowed")
        }
        guard places.take() else { throw BotError(.probeRefused, "too many probes at once") }
        defer { places.giveBack() }
        return try await context.services.relayProbes.probe(request)
    }
}
