import Nostr
package import PikaCore

/// A proposal of another member that no commit has carried out yet.
package struct DaemonProposal: Hashable, Sendable {
    package var nostrGroupID: String
    package var proposal: ProposalEvent

    package init(_ proposal: ProposalEvent, in nostrGroupID: String) {
        self.nostrGroupID = nostrGroupID
        self.proposal = proposal
    }

    var json: JSONObject {
        var json: JSONObject = [
            "type": "proposal_received", "nostr_group_id": .string(self.nostrGroupID),
            "from_pubkey": .string(self.proposal.sender.hex), "event_id": .string(self.proposal.id.hex),
            "departure": .bool(self.proposal.isDeparture), "change": .string(self.proposal.change.name),
        ]
        json["pubkey"] = self.proposal.change.account.map { .string($0.hex) }
        return json
    }
}
