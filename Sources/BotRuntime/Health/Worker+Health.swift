import BotConfiguration
import PikaCore
import RelayClient

extension Worker {
    var examination: HealthExamination {
        let observe = configuration.observe
        let canary = observe.canary.map {
            (interval: Int64($0 / .milliseconds(1)), budget: Int64(observe.canaryBudget / .milliseconds(1)))
        }
        return HealthExamination(relays: relays, canary: canary)
    }

    /// Returns the canary service; nil if the configuration disables it.
    func canaries(_ pool: RelayPool, _ canaryResults: CanaryResults, _ clock: any CoreClock) -> CanaryService? {
        guard let interval = configuration.observe.canary else { return nil }
        return CanaryService(
            relays: relays, interval: interval, budget: configuration.observe.canaryBudget,
            transport: pool, clock: clock, canaryResults: canaryResults, generator: SystemRandomNumberGenerator(),
            logger: logger)
    }
}
