import Nostr
import ProbeReports

/// Check of the login, and the refusals that it may explain.
struct LoginCheck: Sendable {
    /// Whether the account logs in, rather than a throwaway key.
    private let usesAccount: Bool
    /// The relay's message in each phase in which it demanded a login.
    private var refusals: [RelayPhase: String] = [:]

    init(usesAccount: Bool) { self.usesAccount = usesAccount }

    /// Attributes a refusal to the login until that is judged.
    mutating func postpone(_ phase: RelayPhase, _ text: String, in phases: inout RelayPhases) {
        phases.recordLoginRequest()
        refusals[phase] = text
        phases.markUnreached(phase, "requires authentication: \(text)")
    }

    /// Judges the login, once all connections have been used.
    func judge(_ connections: RelayConnections, by deadline: ContinuousClock.Instant, into phases: inout RelayPhases)
        async
    {
        var outcome: PublishOutcome?
        for wire in connections.all where await wire.loginID != nil {
            let answer = await wire.loginOutcome(by: min(deadline, .now + .seconds(1)))
            if outcome?.isAccepted != true { outcome = answer }
        }
        let began = ContinuousClock.now
        let who = usesAccount ? "the account" : "an unknown key"
        guard let outcome else {
            guard phases.report.wantsLogin else {
                return phases.pass(.auth, since: began, "requests no authentication")
            }
            return phases.fail(
                .loginRefused, .auth, .error, since: began,
                "requires authentication, but sends no challenge (NIP-42)",
                "tell its operator")
        }
        phases.recordLoginRequest()
        guard outcome.isAccepted else {
            let text = if case .refused(let words) = outcome { words } else { "no answer" }
            return phases.fail(
                .loginRefused, .auth, .error, since: began, "requires authentication and refuses \(who): \(text)",
                "ask its operator to admit the account, and probe with the account's key")
        }
        phases.pass(.auth, since: began, "requests authentication (NIP-42) and admits \(who)")
        phases.addFault(
            .authRequired, .auth, .note, "requests authentication (NIP-42) and admits \(who)",
            "make sure that the relay admits the key of every client")
        for (phase, code, what) in [
            (.subscribe, .readRefused, "refuses queries"), (.write, .writeRefused, "refuses events"),
        ] as [(RelayPhase, RelayFault, String)] {
            guard let text = refusals[phase] else { continue }
            phases.fail(
                code, phase, .error, since: began, "admits \(who), but still \(what): \(text)",
                "ask its operator for the permissions of such a key")
        }
    }
}
