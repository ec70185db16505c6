import MLS
import Nostr
import PikaCore

/// A node's statement about its active group. Hashes are over compact JSON with the members in this order, so that all
/// implementations of the protocol compute the same.
struct NodeObservation {
    let participant: String
    let chat: AppState.ChatSummary
    /// Whether an invitation into the group waits for a decision.
    let isPending: Bool
    let messages: [NodeMessage]
    let withdrawn: Set<EventID>
    let eventCount: Int
    /// Labels of the participants' accounts, by their hex.
    let labels: [String: String]

    private func label(_ account: PublicKey) -> String {
        if let label = self.labels[account.hex] { return label }
        let digest = SHA256Derivation.digest(Array(account.hex.utf8))
        return "unknown:\(Hex.encode(digest).prefix(16))"
    }

    private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    private static func hash(_ value: JSONValue) -> String { Hex.encode(SHA256Derivation.digest(value.json())) }

    private var protocolState: JSONObject {
        let members = self.chat.allMembers
        var state: JSONObject = [
            "epoch": .integer(Int64(clamping: self.chat.epoch)),
            "member_identities": Self.texts(members.map { self.label($0.publicKey) }.sorted()),
            "admin_identities": Self.texts(members.filter(\.isAdmin).map { self.label($0.publicKey) }.sorted()),
            "group_name": .string(self.chat.name), "group_description": .string(self.chat.description),
            "member_count": .integer(Int64(members.count)),
        ]
        state["state_commitment_sha256"] = .string(Self.hash(.object(state)))
        return state
    }

    private var applicationState: JSONObject {
        let visible = self.messages.sorted { $0.id.hex < $1.id.hex }
        return [
            "visible_message_ids": Self.texts(visible.map(\.id.hex)),
            "visible_plaintexts": Self.texts(visible.filter { $0.kind == .chatMessage }.map(\.content)),
            "invalidated_message_ids": Self.texts(self.withdrawn.map(\.hex).sorted()),
            "pending_confirmation": .bool(self.isPending),
            "stored_member_count": .integer(Int64(self.chat.allMembers.count)),
            "runtime_events_observed": .integer(Int64(self.eventCount)),
        ]
    }

    /// The hash of everything that an observation states about the group.
    var checkpoint: String {
        Self.hash(.array([.object(self.protocolState), .object(self.applicationState)]))
    }

    /// Returns the JSON; `progress` must have the members that the protocol names.
    func json(_ progress: JSONObject) -> JSONValue {
        [
            "schema_version": "1", "participant": .string(self.participant),
            "protocol": .object(self.protocolState), "application": .object(self.applicationState),
            "progress": .object(progress),
        ]
    }
}
