import ProbeReports

/// Judges what a relay sent on all connections.
enum MannersCheck {
    static func judge(_ tally: WireTally, into phases: inout RelayPhases) {
        let began = ContinuousClock.now
        if tally.garbage + tally.invalid > 0 {
            phases.fail(
                .garbage, .manners, .warning, since: began,
                "sends malformed messages (\(tally.garbage)) or invalid events (\(tally.invalid))",
                "tell its operator")
        }
        let isKnown = phases.hasFault(.sinceIgnored)
        if !tally.isWithinLimits || tally.unasked > 0 && !isKnown {
            phases.fail(
                .unasked, .manners, .warning, since: began,
                "sends unrequested events (\(tally.unasked) of \(tally.messages) messages)",
                "use another relay: it wastes bandwidth")
        }
        if !phases.hasFault(.garbage), !phases.hasFault(.unasked) {
            phases.pass(.manners, since: began, "sends only what was requested")
        }
    }
}
