import Nostr
import PikaCore

/// The health checks of one account, computed from the state of its core and the results of its canaries. Pure.
struct HealthExamination: Sendable {
    struct Limits: Sendable, Hashable {
        /// Seconds that an event may wait for the bots.
        var inboxAge: Int64 = 120
        /// Seconds that an event may wait for a relay.
        var outboxAge: Int64 = 120
        /// Seconds that a key package must remain valid; it is replaced two weeks before it expires.
        var keyPackageLeft: Int64 = 7 * 86_400
    }

    /// The relays of the configuration. Other relays are named by inviters, and must not make the account unready.
    let relays: ConfiguredRelays
    /// Interval and budget of the canaries in milliseconds; nil if none are sent.
    let canary: (interval: Int64, budget: Int64)?
    var limits = Limits()

    /// - Parameter now: Unix milliseconds.
    func checks(_ vitals: CoreVitals, _ canaries: (RelayURL) -> CanaryResults.Entry?, now: Int64) -> [HealthCheck] {
        // The core answers only after a successful write.
        var checks = [HealthCheck(check: "store", ok: true, message: "the state is writable")]
        let relays = relays.current
        checks += relays.map { connection(of: $0, vitals.state) }
        if let canary { checks += relays.map { self.canary($0, canaries($0), canary, now) } }
        let time = UnixTime(milliseconds: now)
        checks.append(
            age(
                "inbox", vitals.oldestInboxAt, limits.inboxAge, time,
                "the oldest event has been waiting for the bots"))
        checks.append(
            age(
                "outbox", vitals.oldestOutboxAt, limits.outboxAge, time,
                "the oldest event has been waiting for a relay"))
        if vitals.announcesKeyPackage { checks.append(keyPackage(vitals, time)) }
        return checks
    }

    private func connection(of relay: RelayURL, _ state: AppState) -> HealthCheck {
        let status = state.relays.first { $0.url == relay }
        let (ok, message) =
            switch (status?.connection, status?.isCaughtUp) {
            case (.connected, true): (true, "connected and caught up")
            case (.connected, _): (false, "connected, still catching up")
            case (.connecting, _): (false, "connecting")
            case (.retrying(let attempt, _), _): (false, "not connected after \(attempt) attempts")
            case (.disconnected, _), (nil, _): (false, "not connected")
            }
        return HealthCheck(check: "relay", relay: relay.authority, ok: ok, message: message)
    }

    private func canary(
        _ relay: RelayURL, _ entry: CanaryResults.Entry?, _ times: (interval: Int64, budget: Int64), _ now: Int64
    ) -> HealthCheck {
        // A canary more than a round late means that the canary service has stopped.
        let oldest = max(times.interval, times.budget) + 2 * times.budget
        let (ok, message) =
            switch entry?.outcome {
            case nil: (false, "no canary has come back yet")
            case .returned where now - (entry?.at ?? 0) > oldest: (false, "no canary has been sent recently")
            case .returned(let milliseconds): (true, "came back after \(milliseconds) ms")
            case .failed(let failure, _): (false, "did not come back: \(failure.rawValue)")
            }
        return HealthCheck(check: "canary", relay: relay.authority, ok: ok, message: message)
    }

    private func age(
        _ check: String, _ since: UnixTime?, _ limit: Int64, _ now: UnixTime, _ what: String
    ) -> HealthCheck {
        guard let since else { return HealthCheck(check: check, ok: true, message: "empty") }
        let age = max(0, now.seconds(since: since))
        return HealthCheck(check: check, ok: age <= limit, message: "\(what) for \(age) s; the limit is \(limit) s")
    }

    /// - Parameter hanging: the number of handlers of each bot that still run after their deadline and cancellation.
    static func bots(areServed: Bool, hanging: [String: Int]) -> HealthCheck {
        guard areServed else { return HealthCheck(check: "bots", ok: false, message: "the dispatcher does not answer") }
        let bots = hanging.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !bots.isEmpty else {
            return HealthCheck(check: "bots", ok: true, message: "events are dispatched to the bots")
        }
        let counts = bots.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        return HealthCheck(check: "bots", ok: false, message: "handlers running past their timeout: \(counts)")
    }

    private func keyPackage(_ vitals: CoreVitals, _ now: UnixTime) -> HealthCheck {
        let (ok, message): (Bool, String) =
            switch vitals.keyPackageEndsAt {
            case nil: (false, "no key package is announced, so the account cannot be invited")
            case _ where !vitals.state.hasPublishedKeyPackage:
                (false, "no relay has acknowledged the key package since the start")
            case .some(let end) where end.seconds(since: now) < limits.keyPackageLeft:
                (false, "expires in \(max(0, end.seconds(since: now)) / 3600) h and was not replaced")
            case .some(let end): (true, "published, valid for \(end.seconds(since: now) / 86_400) days")
            }
        return HealthCheck(check: "key_package", ok: ok, message: message)
    }
}
