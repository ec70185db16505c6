import BotKit
import Marmot
public import Nostr

/// Checks what others find of an account on relays, and thus whether they can invite it.
public enum AccountPresence {
    /// Key packages, and the relay lists that say where to find them and where to send invitations.
    public static let kinds: [Kind] = [.addressableKeyPackage, .keyPackage, .keyPackageRelays, .inboxRelays]
    /// Remaining lifetime below which a key package should have been renewed.
    static let renewal: Int64 = 7 * 86_400

    /// - Parameters:
    ///   - stored: Each answering relay's events of these kinds.
    ///   - relays: The configured relays.
    ///   - hasRun: Whether the account has local state. An account that was never started has published nothing.
    public static func judge(
        _ account: PublicKey, stored: [RelayURL: [Event]], relays: [RelayURL], hasRun: Bool, now: Int64,
        into findings: inout FindingList
    ) {
        guard !stored.isEmpty else { return }
        let own = stored.mapValues { $0.filter { $0.pubkey == account } }
        guard hasRun || own.values.contains(where: { !$0.isEmpty }) else {
            findings.ok("published", "nothing yet: it publishes its key package and relay lists when it starts")
            return
        }
        for relay in own.keys.sorted() { judgeKeyPackage(own[relay] ?? [], relay, now, &findings) }
        let all = own.values.flatMap { $0 }
        judgeList(.keyPackageRelays, "where its key packages are (10051)", all, account, relays, &findings)
        judgeList(.inboxRelays, "where invitations go (10050)", all, account, relays, &findings)
    }

    private static func judgeKeyPackage(
        _ events: [Event], _ relay: RelayURL, _ now: Int64, _ findings: inout FindingList
    ) {
        let packages = events.filter { $0.kind == .addressableKeyPackage || $0.kind == .keyPackage }
        let advice = "look into the worker's log for what the relay said; restarting the account publishes it anew"
        guard let newest = packages.max(by: { $0.createdAt < $1.createdAt }) else {
            findings.error(
                "key package", "none on \(relay): who looks there cannot invite it", "start it; if it runs, \(advice)")
            return
        }
        let examined = ExaminedKeyPackage(newest, now: now)
        if let problem = examined.problem {
            findings.error("key package", "on \(relay) is not valid: \(problem)", advice)
        } else if let end = examined.held.notAfter, end < now + renewal {
            findings.warning(
                "key package", "on \(relay) ends in \(max(0, end - now) / 86_400) days", "start it: it renews it")
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
                "relay lists", "no list of \(what)", "start it: it publishes one; if it runs, look into its log")
            return
        }
        let names = listed.sorted().map(\.string).joined(separator: ", ")
        if listed.isEmpty || Set(listed).isDisjoint(with: relays) {
            findings.error(
                "relay lists",
                "the list of \(what) names \(listed.isEmpty ? "no relay" : names), none of the configuration",
                "start it: it publishes its own list; another client with this key may have replaced it")
        } else if Set(listed) != Set(relays) {
            findings.warning(
                "relay lists", "the list of \(what) names \(names), other relays than the configuration",
                "start it: it publishes its own list; another client with this key may have replaced it")
        } else {
            findings.ok("relay lists", "the list of \(what) names the configuration's relays")
        }
    }
}
