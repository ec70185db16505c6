import BotKit
import ProbeReports

/// The settings of a relay probe under `with:`.
struct RelayProbeSettings: Sendable {
    /// A relay that is probed on a schedule, and its metric label.
    struct Target: Hashable, Sendable {
        var relay: RelayURL

        var label: String { relay.host.contains(":") ? "[\(relay.host)]:\(relay.port)" : "\(relay.host):\(relay.port)" }
    }

    let every: Duration
    let timeout: Duration
    let targets: [Target]
    let allow: [TargetPattern]
    let writes: Bool
    let trust: [String]
    let logsInAsAccount: Bool
    let announces: Bool

    /// Throws ``BotSettingsError`` with all problems.
    init(_ settings: BotSettings) throws(BotSettingsError) {
        let reader = SettingsReader(settings)
        every = reader.duration("every", default: .seconds(60))
        timeout = reader.duration("timeout", default: .seconds(20))
        writes = reader.bool("writes", default: true)
        trust = reader.strings("trust") ?? []
        logsInAsAccount = reader.bool("login", default: false)
        announces = reader.bool("announce", default: false)
        allow =
            reader.values("allow", of: "relay URLs (the host may begin with *.)") {
                $0.stringValue.flatMap(TargetPattern.init)
            } ?? []
        targets =
            reader.values("targets", of: "relay URLs (wss://…)") { value in
                value.stringValue.flatMap { try? RelayURL($0) }.map(Target.init)
            } ?? []
        if every < .seconds(10) {
            reader.fail("every", expected: "10s or more", fix: "write every: 60s; each probe writes about 30 events")
        }
        if timeout > .seconds(25) || timeout < .seconds(1) {
            reader.fail("timeout", expected: "1s to 25s", fix: "write timeout: 20s; a handler's deadline is 30s")
        }
        if targets.isEmpty, allow.isEmpty {
            reader.fail(nil, expected: "targets or allow", fix: "list relays: targets: [wss://…]")
        }
        Self.check(targets, reader)
        try reader.finish()
    }

    private static func check(_ targets: [Target], _ reader: SettingsReader) {
        if targets.count > 100 {
            reader.fail(
                "targets", expected: "at most 100 relays", found: "\(targets.count)", fix: "use several accounts")
        }
        var labels: Set<String> = []
        for target in targets where !labels.insert(target.label).inserted {
            reader.fail(
                "targets", expected: "each host and port once", found: target.label,
                fix: "metrics identify a relay by host and port; keep one of them")
        }
    }

    /// Returns the probe request for a relay; nil if the relay may not be probed.
    func request(_ relay: RelayURL, writes: Bool, timeout: Duration) -> RelayProbeRequest? {
        let isNamed = targets.contains { $0.relay == relay }
        guard isNamed || allow.contains(where: { $0.matches(relay) }) else { return nil }
        // A host matched by a pattern must not lead into a private network.
        return RelayProbeRequest(
            relay: relay, writes: writes && self.writes, timeout: min(timeout, self.timeout),
            reachesPrivateAddresses: isNamed, trustRootFiles: trust, logsInAsAccount: logsInAsAccount)
    }
}
