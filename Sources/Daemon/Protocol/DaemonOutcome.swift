import Nostr
package import PikaCore

/// The outcome of an action that a command requested.
package struct DaemonOutcome: Hashable, Sendable {
    package var outcome: OutcomeEvent
    /// The chat that the action was about, or that it created; nil if there is none.
    package var chatID: ChatID?
    /// ``AppState/ChatSummary/nostrGroupID`` of the chat.
    package var nostrGroupID: String?

    package init(_ outcome: OutcomeEvent, chatID: ChatID?, nostrGroupID: String?) {
        self.outcome = outcome
        self.chatID = chatID
        self.nostrGroupID = nostrGroupID
    }

    var json: JSONObject {
        var object: JSONObject = ["type": "outcome"]
        for member in self.outcome.json.object?.members ?? [] {
            // The action's name, as `kind` is a number in messages.
            object[member.name == "kind" ? "name" : member.name] = member.value
        }
        object["nostr_group_id"] = self.nostrGroupID.map(JSONValue.string)
        object["mls_group_id"] = self.chatID.map { .string($0.rawValue) }
        return object
    }
}
