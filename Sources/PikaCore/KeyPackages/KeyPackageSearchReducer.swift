import Marmot
import Nostr

/// Searching relays for peers' key packages.
extension CoreModel {
    /// Starts a search for the key packages of peers.
    mutating func search(
        for peers: [PublicKey], by owner: KeyPackageSearches.Owner, for purpose: KeyPackageSearch.Purpose = .report,
        _ step: inout CoreStep
    ) {
        let number = self.invitations.beginSearch(for: peers, by: owner, for: purpose, self.configuration)
        self.advanceSearch(number, &step)
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
    private func group(ofSearchBy owner: KeyPackageSearches.Owner) -> AccountGroup? {
        guard case .intent(let number) = owner, let groupID = self.intents[number]?.groupID else { return nil }
        return self.groups[groupID]
    }

    /// Returns the protocol in which an intent's group invites.
    func groupProtocol(of intent: GroupIntent) -> GroupProtocol {
        switch intent.goal {
        // Without a proven key of this device, only the first generation is possible.
        case .found(_, _, _, .auto) where self.keyPackages.device.refusal != nil: .v1
        case .found(_, _, _, let groupProtocol): groupProtocol
        default: self.groups[intent.groupID]?.generation == .v2 ? .v2 : .v1
        }
    }

    /// Chooses the peers that are invited; throws if some cannot be and the intent does not proceed without them.
    func choose(
        _ peers: [PublicKey], _ findings: [PublicKey: KeyPackageFinding], for intent: inout GroupIntent
    ) throws(AppCoreError) -> ChosenInvitees {
        let choice = try InviteeChoice(
            peers, findings, self.groupProtocol(of: intent), proceedsWithout: intent.missing == .proceedWithout)
        intent.invitees = choice.invitees
        intent.left.merge(choice.left.mapValues { .keyPackage($0) }) { _, new in new }
        return choice.invitees
    }
}
