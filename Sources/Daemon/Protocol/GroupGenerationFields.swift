package import Nostr
package import PikaCore

/// A group's generation of Marmot and, in the second one, the state of its branch selection, in replies and results.
package struct GroupGenerationFields: Hashable, Sendable {
    package var generation: GroupGeneration
    /// The name of the state; nil in the first generation.
    package var convergence: String?
    /// The reason of a state that needs attention.
    package var reason: String?

    package init(_ generation: GroupGeneration, convergence: String? = nil, reason: String? = nil) {
        self.generation = generation
        self.convergence = convergence
        self.reason = reason
    }

    package init(_ chat: AppState.ChatSummary) {
        self.init(chat.generation)
        switch chat.convergence {
        case nil: break
        case .settled?: self.convergence = "settled"
        case .syncing?: self.convergence = "syncing"
        case .resolving?: self.convergence = "resolving"
        case .blocked(let reason)?:
            self.convergence = "blocked"
            self.reason = reason
        case .unrecoverable(let reason)?:
            self.convergence = "unrecoverable"
            self.reason = reason
        case .disbanded?: self.convergence = "disbanded"
        }
    }

    /// Returns `first` with these fields appended.
    package func json(after first: JSONObject) -> JSONObject {
        var object = first
        object["protocol"] = .string(self.generation.rawValue)
        object["convergence"] = self.convergence.map(JSONValue.string)
        object["convergence_reason"] = self.reason.map(JSONValue.string)
        return object
    }
}

extension AppState.ChatSummary {
    /// Whether lists of groups contain it: the account is a member, or would be if it could follow the group.
    package var isListed: Bool {
        if case .unrecoverable? = self.convergence { true } else { self.isActive }
    }
}
