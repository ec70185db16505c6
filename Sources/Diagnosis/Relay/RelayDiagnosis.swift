public import Logging
public import Nostr

/// Examines one relay from its name to what it keeps, a step after the other, and stops where the next makes no sense.
public struct RelayDiagnosis: Sendable {
    public let relay: RelayURL
    let account: KeyPair?
    let authors: [PublicKey]
    let limit: Duration
    let logger: Logger

    /// What came of it.
    public struct Result: Sendable {
        public var findings: [Finding]
        /// What the relay holds of the authors' key packages and relay lists; nil if it did not answer.
        public var stored: [Event]?
        /// Its clock less ours in seconds, if it told the time.
        public var clockOffset: Double?
    }

    /// - Parameters:
    ///   - account: Logs in and writes; nil: a key that is thrown away writes, and nobody logs in.
    ///   - authors: Whose key packages and relay lists are looked for.
    ///   - limit: How long each step may take.
    public init(
        _ relay: RelayURL, account: KeyPair?, authors: [PublicKey], limit: Duration = .seconds(10), logger: Logger
    ) {
        self.relay = relay
        self.account = account
        self.authors = authors
        self.limit = limit
        self.logger = logger
    }

    public func run(http: HTTPProbe) async -> Result {
        var findings = FindingList("relay \(relay)")
        guard await reach(&findings) else { return Result(findings: findings.all) }
        let offset = await readInformation(http, &findings)
        let record = await RelayConversation(
            relay: relay, account: account, authors: authors, limit: limit, logger: logger
        ).run()
        record.judge(canLogIn: account != nil, into: &findings)
        return Result(findings: findings.all, stored: record.stored, clockOffset: offset)
    }

    /// Whether some address of it takes connections.
    private func reach(_ findings: inout FindingList) async -> Bool {
        await HostReach(host: relay.host, port: relay.port, limit: limit, isSecure: relay.isSecure).run(&findings)
    }

    /// Returns the offset of the relay's clock.
    private func readInformation(_ http: HTTPProbe, _ findings: inout FindingList) async -> Double? {
        let address = "\(relay.isSecure ? "https" : "http")://\(relay.authority)\(relay.path)"
        let answer: HTTPProbe.Answer
        do { answer = try await http.ask(address, accept: "application/nostr+json") } catch {
            // The conversation below says what is wrong with the connection.
            findings.warning(
                "information", "says nothing of itself over HTTP (NIP-11): \(error)", "ask its operator what it allows")
            return nil
        }
        guard answer.status == 200, let information = try? RelayInformation(json: answer.body) else {
            findings.warning(
                "information",
                "says nothing of itself (NIP-11): its answer has status \(answer.status) and is not such a document",
                "ask its operator what it allows")
            return answer.clockOffset
        }
        let software = [information.software, information.version].compactMap { $0.map { PlainText.of($0) } }
        findings.ok(
            "information", software.isEmpty ? "tells of itself (NIP-11)" : "runs \(software.joined(separator: " "))")
        RelayLimits.judge(information.limitation ?? .init(), canLogIn: account != nil, into: &findings)
        return answer.clockOffset
    }
}
