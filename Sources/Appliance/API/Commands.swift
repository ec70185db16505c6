package import Nostr

/// What a command asks of an appliance.
package enum CommandKind: String, Hashable, Sendable, Codable, CaseIterable {
    case start, pause, resume, cancel
    /// Ends the current step early, for a step that waits for a person.
    case next
}

/// Body of `POST /v1/appliances/{id}/commands` and `POST /lan/v1/commands`.
///
/// The id makes the command idempotent: the appliance executes it at most once, and repeats its receipt.
package struct CommandRequest: APIValue {
    /// Also the idempotency key.
    package var id: String
    package var kind: CommandKind
    /// Required to start.
    package var recipeID: String?
    /// Required to start.
    package var servings: Int?
    /// The session that the command is for; not to start.
    package var sessionID: String?
    /// The command is not executed from this time on.
    package var expiresAt: UnixTime

    package init(
        id: String, kind: CommandKind, recipeID: String? = nil, servings: Int? = nil, sessionID: String? = nil,
        expiresAt: UnixTime
    ) {
        self.id = id
        self.kind = kind
        self.recipeID = recipeID
        self.servings = servings
        self.sessionID = sessionID
        self.expiresAt = expiresAt
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.id, "command.id")
        if let recipeID { try Bounds.identifier(recipeID, "command.recipeID") }
        if let servings { try Bounds.number(servings, 1...100, "command.servings") }
        if let sessionID { try Bounds.identifier(sessionID, "command.sessionID") }
        let isComplete = self.kind == .start ? self.recipeID != nil && self.servings != nil : self.sessionID != nil
        guard isComplete else {
            throw ApplianceError(.malformed, "command: expected recipeID and servings to start, sessionID otherwise")
        }
    }
}

/// What became of a command.
package enum CommandState: String, Hashable, Sendable, Codable {
    case accepted, refused, expired
}

/// Answer to a command; a repeated command gets the same one.
package struct CommandReceipt: APIValue {
    /// The command's id.
    package var id: String
    package var state: CommandState
    /// The session that a start created.
    package var sessionID: String?
    /// Code of the refusal, such as `busy`.
    package var reason: String?

    package init(id: String, state: CommandState, sessionID: String? = nil, reason: String? = nil) {
        self.id = id
        self.state = state
        self.sessionID = sessionID
        self.reason = reason
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.id, "receipt.id")
        if let sessionID { try Bounds.identifier(sessionID, "receipt.sessionID") }
        if let reason { try Bounds.identifier(reason, "receipt.reason") }
    }
}

/// Body of both emergency stops, by cloud and by local network. Never expires; idempotent by its id.
package struct EmergencyStopRequest: APIValue {
    package var id: String
    package var requestedAt: UnixTime

    package init(id: String, requestedAt: UnixTime) {
        self.id = id
        self.requestedAt = requestedAt
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.id, "emergencyStop.id")
    }
}

/// The appliance has switched its heating off.
package struct EmergencyStopReceipt: APIValue {
    /// The request's id.
    package var id: String
    package var acknowledgedAt: UnixTime

    package init(id: String, acknowledgedAt: UnixTime) {
        self.id = id
        self.acknowledgedAt = acknowledgedAt
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.id, "emergencyStop.id")
    }
}
