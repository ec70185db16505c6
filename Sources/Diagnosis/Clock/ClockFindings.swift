/// Compares the local clock with those of servers.
public enum ClockFindings {
    static let tolerated = 30.0
    static let harmful = 300.0

    /// - Parameter offsets: Server clocks minus the local clock, in seconds.
    public static func judge(_ offsets: [Double]) -> [Finding] {
        var findings = FindingList("clock")
        guard !offsets.isEmpty else {
            findings.ok("offset", "not compared: no server that was asked told the time")
            return findings.all
        }
        let median = offsets.sorted()[offsets.count / 2]
        let seconds = abs(median) < 1e9 ? Int(abs(median).rounded()) : 1_000_000_000
        let place = "\(seconds) s \(median > 0 ? "behind" : "ahead of") the servers (\(offsets.count) asked)"
        let advice = "let the system keep the time (timedatectl set-ntp true); events carry it, and relays look at it"
        switch abs(median) {
        case ...tolerated: findings.ok("offset", "within \(max(1, seconds)) s of the servers (\(offsets.count) asked)")
        case ...harmful: findings.warning("offset", place, advice)
        default: findings.error("offset", place, advice)
        }
        return findings.all
    }
}
