import Marmot
import Nostr

/// Searching relays for peers' key packages.
extension CoreModel {
    /// Starts a search for the key packages of peers.
    mutating func search(for peers: [PublicKey], by owner: KeyPackageSearches.Owner, _ step: inout CoreStep) {
        self.advanceSearch(self.invitations.beginSearch(for: peers, by: owner, self.configuration), &step)
    }

    mutating func receiveKeyPackages(
        ofSearch number: Int, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        self.invitations.receive(outcomes, ofSearch: number)
        self.advanceSearch(number, &step)
    }

    private mutating func advanceSearch(_ number: Int, _ step: inout CoreStep) {
        // An answer after the end of the search is ignored.
        guard let owner = self.invitations.owner(ofSearch: number),
            let findings = self.invitations.advanceSearch(number, for: self.group(ofSearchBy: owner), &step)
        else { return }
        switch owner {
        case .intent(let intent): self.applyKeyPackages(intent, findings, &step)
        case .request(let request): self.finish(request, .found(findings.mapValues(\.verdict)), &step)
        }
    }

    /// Returns the group that the peers are to join; nil if it does not exist yet.
    private func group(ofSearchBy owner: KeyPackageSearches.Owner) -> MarmotGroup? {
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
