public import BotKit

/// Looks, at times of its own and when somebody asks, whether accounts can be found and invited.
public struct KeyPackageProbeBot: Bot {
    public static let name = "keypackage-probe"
    /// Of `/probe?module=…`.
    static let module = "keypackage"

    private let settings: ProbeSettings
    private let board = KeyPackageBoard()

    public init(settings: BotSettings) throws {
        self.settings = try ProbeSettings(settings)
    }

    public var handlers: [Handler] {
        OnSchedule("probe", .every(settings.interval)) { context in
            guard case .schedule(let run) = context.trigger else { return }
            await probe(settings.batch(at: run.dueMilliseconds), context)
        }
        OnProbe(Self.module) { request, context in
            guard let target = settings.target(named: request.target) else {
                throw BotError(.probeRefused, "no target of that name is configured here")
            }
            let report = await look(at: target, for: min(settings.timeout, request.timeout * 0.9), context)
            return ProbeAnswer(
                isSuccess: report.isSuccess, samples: report.samples(nowSeconds: context.now))
        }
    }

    private func probe(_ targets: [ProbeSettings.Target], _ context: BotContext) async {
        await withTaskGroup(of: Void.self) { group in
            for target in targets {
                group.addTask {
                    let began = context.services.clock.nowMilliseconds
                    let report = await look(at: target, for: settings.timeout, context)
                    let took = Double(context.services.clock.nowMilliseconds - began) / 1000
                    board.show(report, of: target.name, took: took, context)
                }
            }
        }
    }

    private func look(
        at target: ProbeSettings.Target, for time: Duration, _ context: BotContext
    ) async -> KeyPackageReport {
        await context.services.keyPackageProbes.probe(
            KeyPackageProbeRequest(
                account: target.account, relays: settings.relays, staleAfter: settings.stale, timeout: time))
    }
}
