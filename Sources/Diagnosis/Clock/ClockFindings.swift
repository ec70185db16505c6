/// Compares the local clock with those of servers.
package enum ClockFindings {
    static let tolerated = 30.0
    static let harmful = 300.0

    /// - Parameter offsets: Server clocks minus the local clock, in seconds.
    package static func judge(_ offsets: [Double]) -> [Finding] {
        var findings = FindingList("clock")
        guard !offsets.isEmpty else {
            findings.ok("offset", "not checked: no server sent its time")
            return findings.all
        }
        let median = offsets.sorted()[offsets.count / 2]
        let seconds = abs(median) < 1e9 ? Int(abs(median).rounded()) : 1_000_000_000
        let difference = "\(seconds) s \(median > 0 ? "behind" : "ahead of") the servers (\(offsets.count) queried)"
        let advice =
            "synchronise the system clock (timedatectl set-ntp true): relays refuse events with a wrong created_at"
        switch abs(median) {
        case ...tolerated:
            findings.ok("offset", "within \(max(1, seconds)) s of the servers (\(offsets.count) queried)")
        case ...harmful: findings.warning("offset", difference, advice)
        default: findings.error("offset", difference, advice)
        }
        return findings.all
    }
}
