package import Nostr
import PikaCore
import ProbeReports

/// Checks whether others can find an account's key packages and relay lists on relays, and thus invite it, in each
/// protocol generation.
package enum AccountPresence {
    /// Key packages, and the relay lists that say where to find them and where to send invitations.
    package static let kinds: [Kind] = [
        .addressableKeyPackage, .keyPackage, .keyPackageRelays, .inboxRelays, .relayList,
    ]
    /// Remaining lifetime below which a key package should have been renewed.
    static let renewal: Int64 = 7 * 86_400

    /// - Parameters:
    ///   - stored: Each answering relay's events of these kinds.
    ///   - relays: The configured relays.
    ///   - hasRun: Whether the account has local state. An account that was never started has published nothing.
    package static func judge(
        _ account: PublicKey, stored: [RelayURL: [Event]], relays: [RelayURL], hasRun: Bool, now: UnixTime,
        into findings: inout FindingList
    ) {
        guard !stored.isEmpty else { return }
        let own = stored.mapValues { $0.filter { $0.pubkey == account } }
        guard hasRun || own.values.contains(where: { !$0.isEmpty }) else {
            findings.ok(
                "published",
                "nothing published yet; the account publishes its key packages and relay lists when it starts")
            return
        }
        let published = PublishedPresence(account, own, relays: relays, now: now)
        for generation in GroupGeneration.allCases {
            for relay in own.keys.sorted() { published.judgeKeyPackage(generation, on: relay, into: &findings) }
        }
        for list in AccountList.allCases { published.judge(list, into: &findings) }
        for generation in GroupGeneration.allCases { published.judgeInvitations(generation, into: &findings) }
    }
}

/// A relay list that inviters need.
private enum AccountList: CaseIterable {
    case write, keyPackages, inbox

    var kind: Kind {
        switch self {
        case .write: .relayList
        case .keyPackages: .keyPackageRelays
        case .inbox: .inboxRelays
        }
    }

    var name: String {
        switch self {
        case .write: "list of write relays (kind 10002)"
        case .keyPackages: "key package relay list (kind 10051)"
        case .inbox: "inbox relay list (kind 10050)"
        }
    }
}

/// The published events of an account, by relay.
private struct PublishedPresence {
    private static let restart = "start the account: it then publishes its own list"
    private static let replaced = "another client with this key may have replaced it"

    private let own: [RelayURL: [Event]]
    private let packages: ExaminedPackages
    private let relays: [RelayURL]
    private let now: UnixTime
    /// The relays of the newest list of each kind.
    private let listed: [Kind: [RelayURL]]

    init(_ account: PublicKey, _ own: [RelayURL: [Event]], relays: [RelayURL], now: UnixTime) {
        self.own = own
        self.relays = relays
        self.now = now
        let all = own.values.flatMap { $0 }
        self.packages = ExaminedPackages(all, of: account, now: now)
        var listed: [Kind: [RelayURL]] = [:]
        for list in AccountList.allCases {
            listed[list.kind] = PublishedLists.relays(list.kind, of: account, in: all)
        }
        self.listed = listed
    }

    // MARK: Key packages

    func judgeKeyPackage(_ generation: GroupGeneration, on relay: RelayURL, into findings: inout FindingList) {
        let check = "key package \(generation.rawValue)"
        let events = own[relay] ?? []
        let found = packages.packages(generation, among: events)
        let proof = generation == .v2 ? "; a remote signer must agree to sign kind 450, the account proof" : ""
        let advice =
            "check the worker's log for the relay's response; restarting the account publishes it again\(proof)"
        // Inviters of v2 skip damaged key packages of other slots; those of v1 may try the newest only.
        let tried =
            switch generation {
            case .v1: found.max { $0.event.createdAt < $1.event.createdAt }
            case .v2: found.first { $0.invitee != nil } ?? found.first
            }
        guard let tried else {
            let reason = packages.usurper(among: events).map { ", because \($0) with the same tag d replaced it" } ?? ""
            findings.error(
                check,
                "none on \(relay)\(generation == .v2 ? reason : ""): clients of \(generation.rawValue) that search there "
                    + "cannot invite the account", "start the account; if it is running, \(advice)")
            return
        }
        if let problem = tried.problem {
            findings.error(check, "invalid on \(relay): \(problem)", advice)
        } else if let hider = packages.hider(of: tried) {
            findings.error(
                check, "hidden on \(relay) by \(hider) that is newer and has the same tag d",
                "start the account: it then publishes its key package again; \(Self.replaced)")
        } else if let end = tried.held.notAfter, end < now + AccountPresence.renewal {
            findings.warning(
                check, "on \(relay) expires in \(max(0, end.seconds(since: now)) / 86_400) days",
                "start the account: it then renews its key package")
        } else {
            findings.ok(check, "valid on \(relay)")
        }
    }

    // MARK: Relay lists

    func judge(_ list: AccountList, into findings: inout FindingList) {
        guard let listed = listed[list.kind] else {
            findings.error(
                "relay lists", "no \(list.name)",
                "start the account: it then publishes one; if it is running, check its log")
            return
        }
        let names = listed.sorted().map(\.string).joined(separator: ", ")
        let lacking = own.filter { entry in !entry.value.contains { $0.kind == list.kind } }.keys.sorted()
        if listed.isEmpty || Set(listed).isDisjoint(with: relays) {
            let what = listed.isEmpty ? "is empty" : "contains none of the configured relays, only \(names)"
            findings.error("relay lists", "the \(list.name) \(what)", "\(Self.restart); \(Self.replaced)")
        } else if Set(listed) != Set(relays) {
            findings.warning(
                "relay lists", "the \(list.name) differs from the configured relays: \(names)",
                "\(Self.restart); \(Self.replaced)")
        } else if !lacking.isEmpty {
            findings.warning(
                "relay lists",
                "the \(list.name) is missing on \(lacking.map(\.string).joined(separator: ", ")): clients that search "
                    + "only there do not find it",
                "\(Self.restart) on all relays; if it is running, check its log for the relay's response")
        } else {
            findings.ok("relay lists", "the \(list.name) names the configured relays")
        }
    }

    // MARK: Invitations

    /// Reports whether clients of a generation can invite the account, as a summary of the other findings.
    func judgeInvitations(_ generation: GroupGeneration, into findings: inout FindingList) {
        let check = "invitations \(generation.rawValue)"
        let faults = faults(of: generation)
        guard faults.isEmpty else {
            return findings.error(
                check, "clients of \(generation.rawValue) cannot invite the account: \(faults.joined(separator: "; "))",
                "start the account; the findings above say what to check")
        }
        findings.ok(check, "clients of \(generation.rawValue) can find and invite the account")
    }

    private func faults(of generation: GroupGeneration) -> [String] {
        let holders = own.filter { entry in
            packages.packages(generation, among: entry.value).contains { package in
                package.invitee != nil && packages.hider(of: package) == nil
            }
        }.keys
        var faults: [String] = []
        if holders.isEmpty { faults.append("no relay has a valid key package") }
        let named = listed[generation.keyPackageList] ?? []
        if generation == .v2, named.isEmpty {
            faults.append("list 10002 is missing or empty")
        } else if !holders.isEmpty, !named.isEmpty, Set(named).isDisjoint(with: holders) {
            faults.append("no relay of list \(generation.keyPackageList) has its key package")
        }
        // Clients of v1 also send invitations to the relays of list 10051, of the key package and of the group.
        if generation == .v2, listed[.inboxRelays]?.isEmpty != false { faults.append("list 10050 is missing or empty") }
        return faults
    }
}
