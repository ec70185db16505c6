package import BotKit

/// The outcome of a probe request.
package enum ProbeOutcome: Sendable, Hashable {
    case answered(ProbeAnswer)
    /// The settings do not allow this target; with an explanation.
    case refused(String)
    /// No bot has this module; with the modules available.
    case unknownModule([String])
}

extension BotDispatcher {
    /// Probes a target with the first bot that has this module. Paused and stuck bots are skipped.
    package func probe(_ request: ProbeRequest) async -> ProbeOutcome {
        let bots = roster.bots.filter { !admission.isPaused($0.label) && !isStuck($0) }
        guard let bot = bots.first(where: { $0.probes.contains(request.module) }) else {
            return .unknownModule(bots.flatMap(\.probes).sorted())
        }
        let trigger = BotTrigger.probe(request)
        return await answer(bot, trigger, scope(of: trigger), timeout: request.timeout)
    }
}
