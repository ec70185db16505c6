package import Logging
package import Nostr

/// Examines one relay step by step, from name resolution to storage; stops when the next step would be pointless.
package struct RelayDiagnosis: Sendable {
    package let relay: RelayURL
    let account: KeyPair?
    let authors: [PublicKey]
    let limit: Duration
    let logger: Logger

    /// Result of the examination.
    package struct Result: Sendable {
        package var findings: [Finding]
        /// The relay's copy of the authors' key packages and relay lists; nil if it did not answer.
        package var stored: [Event]?
        /// The relay's clock minus the local clock, in seconds, if known.
        package var clockOffset: Double?
    }

    /// - Parameters:
    ///   - account: Logs in and writes; nil writes with a throwaway key and does not log in.
    ///   - authors: Authors whose key packages and relay lists are fetched.
    ///   - limit: Timeout of each step.
    package init(
        _ relay: RelayURL, account: KeyPair?, authors: [PublicKey], limit: Duration = .seconds(10), logger: Logger
    ) {
        self.relay = relay
        self.account = account
        self.authors = authors
        self.limit = limit
        self.logger = logger
    }

    package func run(http: HTTPProbe) async -> Result {
        var findings = FindingList("relay \(relay)")
        guard await reach(&findings) else { return Result(findings: findings.all) }
        let offset = await readInformation(http, &findings)
        let record = await RelayConversation(
            relay: relay, account: account, authors: authors, limit: limit, logger: logger
        ).run()
        record.judge(canLogIn: account != nil, into: &findings)
        return Result(findings: findings.all, stored: record.stored, clockOffset: offset)
    }

    /// Returns whether one of the relay's addresses accepts connections.
    private func reach(_ findings: inout FindingList) async -> Bool {
        await HostReach(host: relay.host, port: relay.port, limit: limit, isSecure: relay.isSecure).run(&findings)
    }

    /// Returns the offset of the relay's clock.
    private func readInformation(_ http: HTTPProbe, _ findings: inout FindingList) async -> Double? {
        let address = "\(relay.isSecure ? "https" : "http")://\(relay.authority)\(relay.path)"
        let answer: HTTPProbe.Response
        do { answer = try await http.request(address, accept: "application/nostr+json") } catch {
            // Connection problems are reported by the conversation that follows.
            findings.warning(
                "information", "no NIP-11 document: \(error)", "ask its operator for its limits")
            return nil
        }
        guard answer.status == 200, let information = try? RelayInformation(json: answer.body) else {
            findings.warning(
                "information",
                "no NIP-11 document: invalid response (status \(answer.status))",
                "ask its operator for its limits")
            return answer.clockOffset
        }
        let software = [information.software, information.version].compactMap { $0.map { PlainText.of($0) } }
        findings.ok(
            "information", software.isEmpty ? "serves a NIP-11 document" : "runs \(software.joined(separator: " "))")
        RelayRequirements.judge(information.limitation ?? .init(), canLogIn: account != nil, into: &findings)
        return answer.clockOffset
    }
}
