package import BotKit

/// What became of a probe that somebody asked for.
package enum ProbeOutcome: Sendable, Hashable {
    case answered(ProbeAnswer)
    /// The settings do not allow this target, in words.
    case refused(String)
    /// No bot has this module; those that there are.
    case unknownModule([String])
}

extension BotDispatcher {
    /// Has the first bot with this module look at a target. Bots that are paused or stuck answer nothing.
    package func probe(_ request: ProbeRequest) async -> ProbeOutcome {
        let bots = roster.bots.filter { !admission.isPaused($0.label) && !isStuck($0) }
        guard let bot = bots.first(where: { $0.probes.contains(request.module) }) else {
            return .unknownModule(bots.flatMap(\.probes).sorted())
        }
        let trigger = BotTrigger.probe(request)
        return await answer(bot, trigger, await scope(of: trigger), timeout: request.timeout)
    }
}
