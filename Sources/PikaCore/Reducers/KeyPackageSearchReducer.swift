import Marmot
import Nostr

/// Searching relays for peers' key packages.
extension CoreModel {
    /// A search in progress, and its owner.
    struct ActiveSearch: Sendable {
        enum Owner: Sendable, Hashable {
            /// A change to a group, by its number.
            case intent(Int)
            case request(RequestID?)
        }

        var search: KeyPackageSearch
        let owner: Owner
    }

    /// Starts a search for the key packages of peers.
    mutating func search(for peers: [PublicKey], by owner: ActiveSearch.Owner, _ step: inout CoreStep) {
        self.lastSearch += 1
        let search = KeyPackageSearch(peers, self.configuration)
        self.searches[self.lastSearch] = ActiveSearch(search: search, owner: owner)
        self.continueSearch(self.lastSearch, &step)
    }

    mutating func takeKeyPackages(
        ofSearch number: Int, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        for (relay, outcome) in outcomes { self.searches[number]?.search.take(outcome, from: relay) }
        self.continueSearch(number, &step)
    }

    private mutating func continueSearch(_ number: Int, _ step: inout CoreStep) {
        // An answer after the end of the search is ignored.
        guard var active = self.searches.removeValue(forKey: number) else { return }
        for request in active.search.nextRequests() {
            step.effects.append(.fetch(.keyPackages(search: number), [request.filter], from: [request.relay]))
        }
        let group = self.group(ofSearchBy: active.owner)
        guard active.search.isOver(for: group, now: step.now) else {
            self.searches[number] = active
            return
        }
        let findings = active.search.findings(for: group, now: step.now)
        switch active.owner {
        case .intent(let intent): self.takeKeyPackages(intent, findings, &step)
        case .request(let request): self.finish(request, .found(findings.mapValues(\.verdict)), &step)
        }
    }

    /// Returns the group that the peers are to join; nil if it does not exist yet.
    private func group(ofSearchBy owner: ActiveSearch.Owner) -> MarmotGroup? {
        guard case .intent(let number) = owner, let groupID = self.intents[number]?.groupID else { return nil }
        return self.groups[groupID]
    }

    /// Returns the peers that can be invited; throws if some cannot and the intent does not proceed without them.
    func choose(
        _ peers: [PublicKey], _ findings: [PublicKey: KeyPackageSearch.Finding], for intent: inout GroupIntent
    ) throws(AppCoreError) -> [Invitee] {
        let failed = findings.filter { $0.value.invitee == nil }.mapValues(\.verdict)
        if intent.missing == .fail, !failed.isEmpty { throw Self.failure(of: failed, among: peers) }
        let invitees = peers.compactMap { findings[$0]?.invitee }
        intent.invitees = invitees
        intent.left.merge(failed.mapValues { .keyPackage($0) }) { _, new in new }
        return invitees
    }

    static func failure(of verdicts: [PublicKey: KeyPackageVerdict], among peers: [PublicKey]) -> AppCoreError {
        var seen: Set<PublicKey> = []
        let reasons = peers.filter { seen.insert($0).inserted }.compactMap { peer in
            verdicts[peer].map { "\(peer.npub): \($0)" }
        }
        let isUnknown = verdicts.values.allSatisfy { $0 == .noRelayAnswered }
        return AppCoreError(
            isUnknown ? .noRelay : .noKeyPackage, "no usable key package of \(reasons.joined(separator: "; "))",
            peers: verdicts)
    }
}
