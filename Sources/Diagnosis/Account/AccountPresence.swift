import Marmot
package import Nostr
import ProbeReports

/// Checks whether others can find an account's key packages and relay lists on relays, and thus invite it.
package enum AccountPresence {
    /// Key packages, and the relay lists that say where to find them and where to send invitations.
    package static let kinds: [Kind] = [.addressableKeyPackage, .keyPackage, .keyPackageRelays, .inboxRelays]
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
                "nothing published yet; the account publishes its key package and relay lists when it starts")
            return
        }
        for relay in own.keys.sorted() { judgeKeyPackage(own[relay] ?? [], relay, now, &findings) }
        let all = own.values.flatMap { $0 }
        judgeList(.keyPackageRelays, "key package relay list (kind 10051)", all, account, relays, &findings)
        judgeList(.inboxRelays, "inbox relay list (kind 10050)", all, account, relays, &findings)
    }

    private static func judgeKeyPackage(
        _ events: [Event], _ relay: RelayURL, _ now: UnixTime, _ findings: inout FindingList
    ) {
        let packages = events.filter { $0.kind == .addressableKeyPackage || $0.kind == .keyPackage }
        let advice = "check the worker's log for the relay's response; restarting the account publishes it again"
        guard let newest = packages.max(by: { $0.createdAt < $1.createdAt }) else {
            findings.error(
                "key package", "none on \(relay): clients that search there cannot invite the account",
                "start the account; if it is running, \(advice)")
            return
        }
        let examined = ExaminedKeyPackage(newest, now: now)
        if let problem = examined.problem {
            findings.error("key package", "invalid on \(relay): \(problem)", advice)
        } else if let end = examined.held.notAfter, end < now + renewal {
            findings.warning(
                "key package", "on \(relay) expires in \(max(0, end.seconds(since: now)) / 86_400) days",
                "start the account: it then renews its key package")
        } else {
            findings.ok("key package", "valid on \(relay)")
        }
    }

    private static func judgeList(
        _ kind: Kind, _ what: String, _ events: [Event], _ account: PublicKey, _ relays: [RelayURL],
        _ findings: inout FindingList
    ) {
        guard let listed = RelayListEvents.relays(kind, of: account, in: events) else {
            findings.error(
                "relay lists", "no \(what)", "start the account: it then publishes one; if it is running, check its log"
            )
            return
        }
        let names = listed.sorted().map(\.string).joined(separator: ", ")
        if listed.isEmpty || Set(listed).isDisjoint(with: relays) {
            findings.error(
                "relay lists",
                "the \(what) \(listed.isEmpty ? "is empty" : "contains none of the configured relays, only \(names)")",
                "start the account: it then publishes its own list; another client with this key may have replaced it")
        } else if Set(listed) != Set(relays) {
            findings.warning(
                "relay lists", "the \(what) differs from the configured relays: \(names)",
                "start the account: it then publishes its own list; another client with this key may have replaced it")
        } else {
            findings.ok("relay lists", "the \(what) names the configured relays")
        }
    }
}
