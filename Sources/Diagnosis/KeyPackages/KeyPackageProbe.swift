import Marmot
package import Nostr
package import PikaCore
package import ProbeReports

/// Finds an account's key packages as an inviter does, on every relay that may have them, and tries an invitation.
///
/// Read-only. The account is untrusted: the number of relays that its lists name and the size of the answers are
/// limited.
package struct KeyPackageProbe: Sendable {
    /// Fetches stored events from relays, as ``PikaCore/RelayTransport/fetch(_:from:timeout:)`` does.
    package typealias Fetch = @Sendable ([Filter], [RelayURL], Duration) async -> [RelayURL: FetchOutcome]
    /// Returns the reason why a relay that only the account names may not be queried; nil if it may.
    package typealias Objection = @Sendable (RelayURL) async -> String?

    /// Maximum number of relays that only the account's lists name; further ones are not queried.
    package static let maximumListedRelays = 12
    /// Maximum number of events of one kind that are examined per relay.
    static let maximumEvents = 20
    /// Depth of lookups: relays have lists, which name relays.
    private static let rounds = 3

    private let home: [RelayURL]
    private let fetch: Fetch
    private let objection: Objection

    /// - Parameter home: The configured relays, which are queried first.
    package init(
        home: [RelayURL], objection: @escaping Objection = { _ in nil }, fetch: @escaping Fetch
    ) {
        self.home = home
        self.fetch = fetch
        self.objection = objection
    }

    package func run(
        _ request: KeyPackageProbeRequest, now: UnixTime, using rng: inout some RandomNumberGenerator
    ) async -> KeyPackageReport {
        var answers = KeyPackageAnswers(request, home: home)
        let end = ContinuousClock.now + request.timeout
        for round in 1...Self.rounds {
            let relays = await admitted(answers.nextRelays(), &answers)
            guard !relays.isEmpty else { break }
            // A relay that does not answer uses up the whole time of its round.
            let left = end - ContinuousClock.now
            guard left > .zero else {
                answers.fail(relays, "not queried: the probe's timeout had expired")
                continue
            }
            let timeout = round == Self.rounds ? left : left * 0.6
            for (relay, outcome) in await fetch(Self.filters(request.account), relays, timeout) {
                answers.record(outcome, from: relay)
            }
        }
        return answers.report(now: now, using: &rng)
    }

    private func admitted(_ relays: [RelayURL], _ answers: inout KeyPackageAnswers) async -> [RelayURL] {
        let unconfigured = relays.filter { !answers.isConfigured($0) }
        let objections = await withTaskGroup(of: (RelayURL, String?).self) { [objection] group in
            for relay in unconfigured { group.addTask { (relay, await objection(relay)) } }
            var objections: [RelayURL: String] = [:]
            for await (relay, text) in group { objections[relay] = text }
            return objections
        }
        for (relay, text) in objections { answers.fail([relay], text) }
        return relays.filter { objections[$0] == nil }
    }

    /// Returns one filter per kind, so that many events of one kind do not crowd out another.
    private static func filters(_ account: PublicKey) -> [Filter] {
        KeyPackageAnswers.kinds.map { kind in
            Filter(authors: [account], kinds: [kind], limit: kind.isReplaceable ? 1 : maximumEvents)
        }
    }
}
