package import Nostr
package import PikaCore

/// A message that left its group's history, or came back.
package struct DaemonWithdrawal: Hashable, Sendable {
    /// ``AppState/ChatSummary/nostrGroupID``.
    package var nostrGroupID: String
    /// The message's id.
    package var id: EventID
    package var sender: PublicKey
    package var kind: Kind
    package var isRestored: Bool

    package init(_ event: WithdrawnEvent, in nostrGroupID: String) {
        self.nostrGroupID = nostrGroupID
        self.id = event.id
        self.sender = event.sender
        self.kind = event.kind
        self.isRestored = event.isRestored
    }

    var json: JSONObject {
        [
            "type": "withdrawn", "nostr_group_id": .string(self.nostrGroupID), "message_id": .string(self.id.hex),
            "from_pubkey": .string(self.sender.hex), "kind": .integer(Int64(self.kind.rawValue)),
            "restored": .bool(self.isRestored),
        ]
    }
}
