package import Nostr
import RelayClient

/// Examines one relay step by step, from name resolution to storage; stops when the next step would be pointless.
package struct RelayDiagnosis: Sendable {
    package let relay: RelayURL
    let account: KeyPair?
    let authors: [PublicKey]
    let limit: Duration

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
        _ relay: RelayURL, account: KeyPair?, authors: [PublicKey], limit: Duration = .seconds(10)
    ) {
        self.relay = relay
        self.account = account
        self.authors = authors
        self.limit = limit
    }

    package func run(http: HTTPProbe) async -> Result {
        let login: RelayPool.Signer =
            if let account { ThrowawayEvent.signer(account) } else { { _, _ in nil } }
        let phases = await RelayConnections.serve(relay, login: login) { connections in
            await examine(connections, http)
        }
        var findings = FindingList("relay \(relay)")
        phases.judge(canLogIn: account != nil, into: &findings)
        return Result(
            findings: findings.all, stored: phases.exchange?.stored, clockOffset: phases.information?.clockOffset)
    }

    private func examine(_ connections: RelayConnections, _ http: HTTPProbe) async -> RelayPhases {
        // Only the steps are limited.
        let budget = ProbeBudget(.seconds(86_400), step: limit)
        let examiner = RelayExaminer(relay: relay, budget: budget)
        var phases = RelayPhases(relay, began: .now)
        guard let address = await examiner.reach(into: &phases) else { return phases }
        await examiner.readInformation(with: http, into: &phases)
        guard let wire = await examiner.connect(to: address, with: connections, into: &phases) else { return phases }
        phases.record(await AccountExchange(wire: wire, account: account, authors: authors, budget: budget).run())
        return phases
    }
}
