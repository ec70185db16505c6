package import Nostr

/// Where a cooking session is.
package enum CookingPhase: String, Hashable, Sendable, Codable, CaseIterable {
    case cooking, paused, finished, stopped, failed

    /// Whether the session has ended.
    package var isFinal: Bool { self == .finished || self == .stopped || self == .failed }
}

/// Complete state of a cooking session; a later one replaces an earlier one.
package struct CookingStatus: APIValue {
    package var sessionID: String
    /// The id of the start that created the session.
    package var commandID: String
    package var applianceID: String
    package var recipeID: String
    package var servings: Int
    /// Strictly increases within a session.
    package var revision: Int
    package var phase: CookingPhase
    /// Index of the current step, from 0.
    package var step: Int
    package var stepCount: Int
    /// Until the current step ends.
    package var stepRemainingSeconds: Int
    /// Until the session ends.
    package var remainingSeconds: Int
    /// Of all steps.
    package var totalSeconds: Int
    package var startedAt: UnixTime
    package var updatedAt: UnixTime

    package init(
        sessionID: String, commandID: String, applianceID: String, recipeID: String, servings: Int, revision: Int,
        phase: CookingPhase,
        step: Int, stepCount: Int, stepRemainingSeconds: Int, remainingSeconds: Int, totalSeconds: Int,
        startedAt: UnixTime, updatedAt: UnixTime
    ) {
        self.sessionID = sessionID
        self.commandID = commandID
        self.applianceID = applianceID
        self.recipeID = recipeID
        self.servings = servings
        self.revision = revision
        self.phase = phase
        self.step = step
        self.stepCount = stepCount
        self.stepRemainingSeconds = stepRemainingSeconds
        self.remainingSeconds = remainingSeconds
        self.totalSeconds = totalSeconds
        self.startedAt = startedAt
        self.updatedAt = updatedAt
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.sessionID, "status.sessionID")
        try Bounds.identifier(self.commandID, "status.commandID")
        try Bounds.identifier(self.applianceID, "status.applianceID")
        try Bounds.identifier(self.recipeID, "status.recipeID")
        try Bounds.number(self.servings, 1...100, "status.servings")
        try Bounds.number(self.revision, 0...Bounds.largestRevision, "status.revision")
        try Bounds.number(self.stepCount, 1...100, "status.stepCount")
        try Bounds.number(self.step, 0...(self.stepCount - 1), "status.step")
        let longest = 100 * 86_400
        try Bounds.number(self.totalSeconds, 1...longest, "status.totalSeconds")
        try Bounds.number(self.remainingSeconds, 0...self.totalSeconds, "status.remainingSeconds")
        try Bounds.number(self.stepRemainingSeconds, 0...longest, "status.stepRemainingSeconds")
    }

    /// Completed share of the session, 0 to 100. Exact and without overflow for a valid status.
    package var percent: Int {
        let done = self.totalSeconds.clampedSubtracting(self.remainingSeconds)
        return max(0, min(100, done.clampedMultiplied(by: 100) / max(1, self.totalSeconds)))
    }
}
