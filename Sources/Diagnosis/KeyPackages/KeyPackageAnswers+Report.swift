import Marmot
import Nostr
import ProbeReports

/// Evaluation of the answers.
extension KeyPackageAnswers {
    /// Remaining lifetime below which a key package should have been renewed.
    private static let renewal: Int64 = AccountPresence.renewal

    func report(now: UnixTime, using rng: inout some RandomNumberGenerator) -> KeyPackageReport {
        var examined: [EventID: ExaminedKeyPackage] = [:]
        for event in events.values.joined() where event.kind == .addressableKeyPackage || event.kind == .keyPackage {
            if examined[event.id] == nil { examined[event.id] = ExaminedKeyPackage(event, now: now) }
        }
        let usable = examined.values.filter { $0.invitee != nil }.sorted(by: ExaminedKeyPackage.order)
        let newest = Dictionary(usable.map { ($0.slot, $0) }) { first, _ in first }
        let holdings = relays.map { holding(of: $0, examined, newest, now) }
        return KeyPackageReport(
            account: request.account, relays: holdings, lists: Self.lists.map { list($0, holdings) },
            invitation: invitation(usable.first, now, &rng))
    }

    private func invitation(
        _ package: ExaminedKeyPackage?, _ now: UnixTime, _ rng: inout some RandomNumberGenerator
    ) -> TrialInvitation? {
        guard let package, let invitee = package.invitee else { return nil }
        let relays = configured.isEmpty ? relays : configured
        return ScratchInvitation.attempt(
            invitee, of: package.event, relays: Array(relays.prefix(3)), now: now, using: &rng)
    }

    // MARK: Relays

    private func holding(
        of relay: RelayURL, _ examined: [EventID: ExaminedKeyPackage], _ newest: [String: ExaminedKeyPackage],
        _ now: UnixTime
    ) -> RelayKeyPackageResult {
        var holding = RelayKeyPackageResult(
            relay: relay, isConfigured: isConfigured(relay),
            lists: Self.lists.filter { listed($0)?.contains(relay) == true }, state: .unknown,
            reason: failures[relay] ?? "no answer")
        guard let events = events[relay] else { return holding }
        let packages = events.compactMap { examined[$0.id] }.sorted(by: ExaminedKeyPackage.order)
        guard let first = packages.first else {
            (holding.state, holding.reason) = (.missing, "no key package")
            return holding
        }
        guard let best = packages.first(where: { $0.invitee != nil }) else {
            (holding.state, holding.reason) = (.invalid, first.problem ?? "invalid")
            holding.package = first.held
            return holding
        }
        (holding.state, holding.reason) = state(of: best, newest[best.slot], now)
        holding.package = best.held
        return holding
    }

    /// Conditions in descending order of importance.
    private func state(
        of best: ExaminedKeyPackage, _ newest: ExaminedKeyPackage?, _ now: UnixTime
    ) -> (RelayKeyPackageResult.State, String) {
        if let newest, newest.event.id != best.event.id, newest.event.createdAt > best.event.createdAt {
            return (
                .superseded, "another relay has a version that is \(Self.age(newest.event, best.event.createdAt)) newer"
            )
        }
        let age = now.seconds(since: best.event.createdAt)
        let limit = request.staleAfter.components.seconds
        if age > limit {
            return (.stale, "published \(Self.days(age)) ago, exceeding the limit of \(Self.days(limit))")
        }
        if let end = best.held.notAfter, end < now + Self.renewal {
            return (.stale, "expires in \(Self.days(max(0, end.seconds(since: now))))")
        }
        if best.hasLegacyFormat { return (.legacy, best.remarks.first ?? "outdated event format") }
        if best.event.kind == .keyPackage {
            return (.legacy, "only kind 443; newer clients look for kind 30443 first")
        }
        return (.present, "valid")
    }

    private static func age(_ event: Event, _ time: UnixTime) -> String {
        days(event.createdAt.seconds(since: time))
    }

    /// Formats a duration: `40 s`, `3 h`, `12 days`.
    private static func days(_ seconds: Int64) -> String {
        switch seconds {
        case ..<7200: "\(seconds) s"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }

    // MARK: Lists

    private func list(_ kind: Kind, _ holdings: [RelayKeyPackageResult]) -> PublishedRelayList {
        var list = PublishedRelayList(kind: kind, relays: listed(kind))
        // Kind 10002 is optional; it only names more relays to query.
        guard kind != .relayList else { return list }
        guard let relays = list.relays else {
            if !events.isEmpty { list.problem = "not found on any relay that answered" }
            return list
        }
        let named = holdings.filter { relays.contains($0.relay) }
        if relays.isEmpty {
            list.problem = "the list is empty"
        } else if named.allSatisfy({ $0.state == .unknown }) {
            list.problem = "none of its relays answered"
        } else if kind == .keyPackageRelays, !named.contains(where: \.state.isUsable) {
            list.problem = "none of its relays has a valid key package"
        }
        return list
    }
}
