import BotKit
import Yams

extension ConfigurationParser {
    func read(_ value: ConfigurationValue, into supervisor: inout SupervisionConfiguration) {
        guard let fields = value.fields(ConfigurationSchema.supervisor) else { return }
        supervisor.drain = fields.optional("drain")?.duration() ?? supervisor.drain
        supervisor.patience = fields.optional("patience")?.duration() ?? supervisor.patience
        supervisor.control = fields.optional("control").flatMap(socketPath)
        guard let restart = fields.optional("restart")?.fields(ConfigurationSchema.restart) else { return }
        supervisor.strategy =
            restart.optional("strategy")?.choice(of: SupervisionConfiguration.Strategy.self) ?? supervisor.strategy
        supervisor.intensity = restart.optional("intensity")?.integer(in: 0...1000) ?? supervisor.intensity
        supervisor.period = restart.optional("period")?.duration() ?? supervisor.period
        let backoff = restart.optional("backoff")?.parsed(
            { durationRange(configurationText: $0).flatMap { $0.lowerBound > .zero ? $0 : nil } },
            expected: "a range of durations, the smaller first", fix: "write for example 1s..30s")
        supervisor.backoff = backoff ?? supervisor.backoff
    }

    /// Parses a socket path. The kernel's limit is `sun_path`: 108 bytes including the terminating zero.
    private func socketPath(_ value: ConfigurationValue) -> String? {
        guard let path = value.string(expected: "a path", fix: "write for example ./state/control.sock").map(resolved)
        else { return nil }
        guard path.utf8.count <= 107 else {
            value.fail(
                expected: "a path of at most 107 bytes (the limit for Unix sockets)", found: "\(path.utf8.count) bytes",
                fix: "write a shorter path, such as /run/pikabot/control.sock")
            return nil
        }
        return path
    }

    func read(_ value: ConfigurationValue, into observe: inout ObservationConfiguration) {
        guard let fields = value.fields(ConfigurationSchema.observe) else { return }
        observe.listen = fields.optional("listen")?.parsed(
            ListenAddress.init(configurationText:), expected: "HOST:PORT",
            fix: "write for example 127.0.0.1:9464 or [::1]:9464")
        let fix = "write for example hosts: [bots.example]"
        observe.hosts = (fields.optional("hosts")?.list(of: "host names", fix: fix) ?? []).compactMap {
            $0.parsed(hostName(configurationText:), expected: "a host name without a port", fix: fix)
        }
        if let value = fields.optional("canary") { readCanary(value, into: &observe) }
        observe.logs = fields.optional("logs")?.choice(of: ObservationConfiguration.LogFormat.self) ?? observe.logs
        observe.level = fields.optional("level")?.choice(of: ObservationConfiguration.LogLevel.self) ?? observe.level
        observe.console = fields.optional("console").flatMap(console)
    }

    private func readCanary(_ value: ConfigurationValue, into observe: inout ObservationConfiguration) {
        if value.node.scalar != nil {
            guard value.node.scalar?.string == "never" else {
                value.fail(
                    expected: "never or a mapping with one of every, budget",
                    fix: "write for example canary: { every: 60s, budget: 10s }")
                return
            }
            observe.canary = nil
            return
        }
        guard let fields = value.fields(ConfigurationSchema.canary) else { return }
        let every = fields.optional("every")?.duration() ?? observe.canary
        observe.canaryBudget = fields.optional("budget")?.duration() ?? observe.canaryBudget
        if let every, every < observe.canaryBudget {
            value.fail(
                expected: "a budget of at most the interval (every)",
                found: "\(observe.canaryBudget.configurationText) in \(every.configurationText)",
                fix: "increase every or decrease budget")
        }
        observe.canary = every
    }
}
