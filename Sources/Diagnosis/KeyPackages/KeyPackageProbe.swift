public import BotKit
import Marmot
public import Nostr
public import PikaCore

/// Finds an account's key packages as an inviter does, on every relay that may have them, and tries an invitation.
///
/// Reads only. The account is looked at as a stranger's: what its lists name is asked within limits, and what relays
/// send is bounded.
public struct KeyPackageProbe: Sendable {
    /// Asks relays for stored events, as ``PikaCore/RelayTransport/fetch(_:from:timeout:)``.
    public typealias Fetch = @Sendable ([Filter], [RelayURL], Duration) async -> [RelayURL: FetchOutcome]
    /// Why a relay that only the account names may not be asked, in words; nil if it may.
    public typealias Objection = @Sendable (RelayURL) async -> String?

    /// Relays that only the account's lists name; further ones are not asked.
    public static let mostListedRelays = 12
    /// Events of one kind that are looked at, of one relay.
    static let mostEvents = 20
    /// Of the lists of a list: relays name lists, which name relays.
    private static let rounds = 3

    private let home: [RelayURL]
    private let fetch: Fetch
    private let objection: Objection

    /// - Parameter home: The relays of the configuration, which are asked first.
    public init(
        home: [RelayURL], objection: @escaping Objection = { _ in nil }, fetch: @escaping Fetch
    ) {
        self.home = home
        self.fetch = fetch
        self.objection = objection
    }

    public func run(
        _ request: KeyPackageProbeRequest, now: Int64, using rng: inout some RandomNumberGenerator
    ) async -> KeyPackageReport {
        var answers = KeyPackageAnswers(request, home: home)
        let end = ContinuousClock.now + request.timeout
        for round in 1...Self.rounds {
            let relays = await admitted(answers.nextRelays(), &answers)
            guard !relays.isEmpty else { break }
            // A relay that does not answer takes all the time of its round.
            let left = end - ContinuousClock.now
            guard left > .zero else {
                answers.fail(relays, "there was no time left to ask it")
                continue
            }
            let patience = round == Self.rounds ? left : left * 0.6
            for (relay, outcome) in await fetch(Self.filters(request.account), relays, patience) {
                answers.take(outcome, from: relay)
            }
        }
        return answers.report(now: now, using: &rng)
    }

    private func admitted(_ relays: [RelayURL], _ answers: inout KeyPackageAnswers) async -> [RelayURL] {
        let strange = relays.filter { !answers.isConfigured($0) }
        let objections = await withTaskGroup(of: (RelayURL, String?).self) { [objection] group in
            for relay in strange { group.addTask { (relay, await objection(relay)) } }
            var objections: [RelayURL: String] = [:]
            for await (relay, text) in group { objections[relay] = text }
            return objections
        }
        for (relay, text) in objections { answers.fail([relay], text) }
        return relays.filter { objections[$0] == nil }
    }

    /// One for each kind, so that many of one kind push no other out.
    private static func filters(_ account: PublicKey) -> [Filter] {
        KeyPackageAnswers.kinds.map { kind in
            Filter(authors: [account], kinds: [kind], limit: kind.isReplaceable ? 1 : mostEvents)
        }
    }
}
