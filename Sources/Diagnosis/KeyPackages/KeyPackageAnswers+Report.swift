import Nostr
import PikaCore
import ProbeReports

/// Evaluation of the answers.
extension KeyPackageAnswers {
    /// Remaining lifetime below which a key package should have been renewed.
    private static let renewal: Int64 = AccountPresence.renewal

    func report(now: UnixTime, using rng: inout some RandomNumberGenerator) -> KeyPackageReport {
        let packages = ExaminedPackages(events.values.joined(), of: request.account, now: now)
        var generations: [GroupGeneration: GenerationReport] = [:]
        for generation in GroupGeneration.allCases {
            generations[generation] = GenerationReport(
                relays: relays.map { holding(of: $0, generation, packages, now) },
                invitation: packages.best(generation).flatMap { invitation($0, now, &rng) })
        }
        var report = KeyPackageReport(
            account: request.account, expectation: request.expectation, generations: generations)
        report.lists = Self.lists.map { list($0, report) }
        return report
    }

    private func invitation(
        _ package: ExaminedKeyPackage, _ now: UnixTime, _ rng: inout some RandomNumberGenerator
    ) -> TrialInvitation? {
        let relays = configured.isEmpty ? relays : configured
        return ScratchInvitation.attempt(package, relays: Array(relays.prefix(3)), now: now, using: &rng)
    }

    // MARK: Relays

    private func holding(
        of relay: RelayURL, _ generation: GroupGeneration, _ packages: ExaminedPackages, _ now: UnixTime
    ) -> RelayKeyPackageResult {
        var holding = RelayKeyPackageResult(
            relay: relay, isConfigured: isConfigured(relay),
            lists: Self.lists.filter { listed($0)?.contains(relay) == true }, state: .unknown,
            reason: failures[relay] ?? "no answer")
        guard let events = events[relay] else { return holding }
        let found = packages.packages(generation, among: events)
        guard let first = found.first else {
            (holding.state, holding.reason) = (.missing, "no key package")
            if generation == .v2, let usurper = packages.usurper(among: events) {
                (holding.state, holding.reason) = (.hidden, "replaced by \(usurper) with the same tag d")
            }
            return holding
        }
        guard let best = found.first(where: { $0.invitee != nil }) else {
            (holding.state, holding.reason) = (.invalid, first.problem ?? "invalid")
            holding.package = first.held
            return holding
        }
        (holding.state, holding.reason) = state(of: best, packages, now)
        holding.package = best.held
        if generation == .v2, packages.hasAddressableFirst(among: events) {
            holding.package?.remarks.append(
                "beside it is a key package of v1 of kind 30443, on which MDK up to 0.9.16 fails")
        }
        return holding
    }

    /// Conditions in descending order of importance.
    private func state(
        of best: ExaminedKeyPackage, _ packages: ExaminedPackages, _ now: UnixTime
    ) -> (RelayKeyPackageResult.State, String) {
        if let hider = packages.hider(of: best) {
            return (.hidden, "hidden by \(hider) that is newer and has the same tag d")
        }
        if let newest = packages.successor(of: best) {
            let age = Self.days(newest.event.createdAt.seconds(since: best.event.createdAt))
            return (.superseded, "another relay has a version that is \(age) newer")
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
        // With one of v2 in kind 30443, another of v1 would only be in its way.
        if best.event.kind == .keyPackage, packages.best(.v2) == nil {
            return (.legacy, "only kind 443; newer clients look for kind 30443 first")
        }
        return (.present, "valid")
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

    /// A list has problems only if a generation that matters for the account uses it.
    private func list(_ kind: Kind, _ report: KeyPackageReport) -> PublishedRelayList {
        var list = PublishedRelayList(kind: kind, relays: listed(kind))
        guard let generation = report.relevantGenerations.first(where: { $0.uses(kind) }) else { return list }
        guard let relays = list.relays else {
            if !events.isEmpty { list.problem = "not found on any relay that answered" }
            return list
        }
        let named = report[generation].relays.filter { relays.contains($0.relay) }
        if relays.isEmpty {
            list.problem = "the list is empty"
        } else if named.allSatisfy({ $0.state == .unknown }) {
            list.problem = "none of its relays answered"
        } else if kind == generation.keyPackageList, !named.contains(where: \.state.isUsable) {
            list.problem = "none of its relays has a valid key package"
        }
        return list
    }
}
