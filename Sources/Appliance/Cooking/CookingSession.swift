package import Nostr

/// One cooking session of one appliance, from the request to start to the record of the history.
///
/// The caller stores the value before it performs an effect, so that a restart repeats no start: a command keeps its id,
/// which the appliance executes once, and is never sent from its expiry on. A start is refused while the appliance cannot
/// be reached, and never waits for it.
package struct CookingSession: Hashable, Sendable, Codable {
    /// How the appliance can be reached at the moment.
    package struct Reach: Hashable, Sendable, Codable {
        /// Connected to the cloud, and the cloud to us.
        package var byCloud: Bool
        /// Answers in the local network.
        package var byLocalNetwork: Bool

        package init(byCloud: Bool, byLocalNetwork: Bool) {
            self.byCloud = byCloud
            self.byLocalNetwork = byLocalNetwork
        }

        /// The preferred way; nil if the appliance is offline.
        package var route: ApplianceRoute? { self.byCloud ? .cloud : self.byLocalNetwork ? .local : nil }
    }

    package enum Effect: Hashable, Sendable {
        case send(CommandRequest, ApplianceRoute)
        /// Read the session's status: the outcome of a command is not known.
        case readStatus
        case report(Report)
    }

    /// What the chat is told.
    package enum Report: Hashable, Sendable {
        case started(sessionID: String)
        /// The appliance did not start.
        case refused(reason: String)
        /// The start had no answer before its expiry; whether it was executed follows from the status.
        case expired
        case commandFailed(CommandKind, reason: String)
        /// The message with the progress has to be updated.
        case progress(CookingStatus)
        case step(index: Int, RecipeStep)
        case timer(label: String)
        case alert(LiveEvent.Alert)
        case ended(HistoryRecord)
    }

    /// Seconds during which a command may be executed.
    package static let lifetime: Int64 = 10
    /// Seconds between two attempts of a command.
    package static let retryInterval: Int64 = 2
    /// Alerts and timers that are remembered in order to report each once; older ones are forgotten.
    static let maximumReported = 128

    private struct Pending: Hashable, Codable {
        var command: CommandRequest
        var route: ApplianceRoute
        /// When the next attempt is due.
        var nextAttempt: UnixTime
    }

    private enum Phase: Hashable, Codable {
        case idle
        case starting
        case running(sessionID: String)
        case ended(sessionID: String)
        case refused
    }

    package let applianceID: String
    package let recipe: Recipe
    package let servings: Int
    private var phase = Phase.idle
    /// The id of the start; the status of the session that it created has it too.
    private var startID: String?
    private var pending: Pending?
    package private(set) var status: CookingStatus?
    private var reportedStep: Int?
    private var reported: [String] = []

    package init(applianceID: String, recipe: Recipe, servings: Int) throws(ApplianceError) {
        try Bounds.identifier(applianceID, "applianceID")
        try Bounds.number(servings, 1...100, "servings")
        try recipe.validate()
        self.applianceID = applianceID
        self.recipe = recipe
        self.servings = servings
    }

    package var sessionID: String? {
        switch self.phase {
        case .running(let id), .ended(let id): id
        case .idle, .starting, .refused: nil
        }
    }

    /// Whether the appliance cooks, or may do so.
    package var isActive: Bool {
        switch self.phase {
        case .starting, .running: true
        case .idle, .ended, .refused: false
        }
    }

    /// When to call ``advance(to:reach:)``; nil without a pending command.
    package var deadline: UnixTime? { self.pending.map { min($0.nextAttempt, $0.command.expiresAt) } }

    // MARK: Commands

    /// Starts cooking.
    ///
    /// - Parameter commandID: a new random id, 1 to 64 letters and digits.
    ///
    /// Throws `ApplianceError.Code.offline` if the appliance cannot be reached now, or
    /// `ApplianceError.Code.wrongState` for a session that was started before.
    package mutating func start(
        commandID: String, reach: Reach, now: UnixTime
    ) throws(ApplianceError) -> [Effect] {
        guard self.phase == .idle else { throw ApplianceError(.wrongState, "the session was started before") }
        guard let route = reach.route else {
            throw ApplianceError(.offline, "the appliance is offline; a start is never queued")
        }
        let command = CommandRequest(
            id: commandID, kind: .start, recipeID: self.recipe.id, servings: self.servings,
            expiresAt: now + Self.lifetime)
        try command.validate()
        self.phase = .starting
        self.startID = commandID
        return self.send(command, route, now)
    }

    /// Sends another command to the running session; it replaces a pending one that has no answer yet.
    ///
    /// Throws `ApplianceError.Code.offline`, `ApplianceError.Code.wrongState` or, while the start has no answer,
    /// `ApplianceError.Code.busy`.
    package mutating func command(
        _ kind: CommandKind, commandID: String, reach: Reach, now: UnixTime
    ) throws(ApplianceError) -> [Effect] {
        guard kind != .start else { throw ApplianceError(.wrongState, "use start(commandID:reach:now:)") }
        guard self.phase != .starting else { throw ApplianceError(.busy, "the start has no answer yet") }
        guard case .running(let session) = self.phase else {
            throw ApplianceError(.wrongState, "the appliance is not cooking")
        }
        guard let route = reach.route else { throw ApplianceError(.offline, "the appliance is offline") }
        let command = CommandRequest(
            id: commandID, kind: kind, sessionID: session, expiresAt: now + Self.lifetime)
        try command.validate()
        return self.send(command, route, now)
    }

    private mutating func send(_ command: CommandRequest, _ route: ApplianceRoute, _ now: UnixTime) -> [Effect] {
        self.pending = Pending(command: command, route: route, nextAttempt: now + Self.retryInterval)
        return [.send(command, route)]
    }

    /// Repeats a command without an answer by the best way, or gives it up at its expiry.
    ///
    /// Call it also after a restart.
    package mutating func advance(to now: UnixTime, reach: Reach) -> [Effect] {
        guard var pending, let deadline, now >= deadline else { return [] }
        guard now < pending.command.expiresAt else { return self.expire(pending.command) }
        pending.nextAttempt = now + Self.retryInterval
        guard let route = reach.route else {
            self.pending = pending
            return []
        }
        pending.route = route
        self.pending = pending
        return [.send(pending.command, route)]
    }

    private mutating func expire(_ command: CommandRequest) -> [Effect] {
        self.pending = nil
        let report: Report = command.kind == .start ? .expired : .commandFailed(command.kind, reason: "expired")
        return [.report(report), .readStatus]
    }

    /// Applies the answer to a command; answers to others are ignored.
    package mutating func receive(_ receipt: CommandReceipt) -> [Effect] {
        guard let command = self.pending?.command, command.id == receipt.id else { return [] }
        self.pending = nil
        let reason = receipt.reason ?? receipt.state.rawValue
        guard command.kind == .start else {
            return receipt.state == .accepted ? [] : [.report(.commandFailed(command.kind, reason: reason))]
        }
        switch receipt.state {
        case .accepted:
            guard let session = receipt.sessionID else { return [.readStatus] }
            return self.begin(session)
        case .refused, .expired:
            guard self.phase == .starting else { return [] }
            self.phase = .refused
            return [.report(.refused(reason: reason))]
        }
    }

    /// The appliance has no session, or that of another start; ends a start whose outcome was not known.
    ///
    /// For the answer to ``Effect/readStatus`` only: an event of the live stream may be older than the start.
    package mutating func receiveNoSession() -> [Effect] {
        guard self.phase == .starting, self.pending == nil else { return [] }
        self.phase = .refused
        return [.report(.refused(reason: "not_started"))]
    }

    private mutating func begin(_ session: String) -> [Effect] {
        guard self.phase == .starting else { return [] }
        self.phase = .running(sessionID: session)
        return [.report(.started(sessionID: session))]
    }

    // MARK: Status

    /// Applies a status from the live stream or from a request; one that is not newer is ignored.
    package mutating func receive(_ status: CookingStatus) -> [Effect] {
        guard status.applianceID == self.applianceID, (try? status.validate()) != nil else { return [] }
        var effects: [Effect] = []
        if self.phase == .starting, status.commandID == self.startID {
            // The event may overtake the answer; the answer then finds the session running.
            if self.pending?.command.kind == .start { self.pending = nil }
            effects = self.begin(status.sessionID)
        }
        guard case .running(status.sessionID) = self.phase else { return effects }
        if let known = self.status, known.revision >= status.revision { return effects }
        self.status = status
        if !status.phase.isFinal, self.reportedStep.map({ status.step > $0 }) ?? true,
            status.step < self.recipe.steps.count
        {
            self.reportedStep = status.step
            effects.append(.report(.step(index: status.step, self.recipe.steps[status.step])))
        }
        effects.append(.report(.progress(status)))
        if let outcome = CookingOutcome(status.phase) {
            self.phase = .ended(sessionID: status.sessionID)
            self.pending = nil
            effects.append(.report(.ended(self.record(status, outcome))))
        }
        return effects
    }

    private func record(_ status: CookingStatus, _ outcome: CookingOutcome) -> HistoryRecord {
        HistoryRecord(
            id: status.sessionID, applianceID: self.applianceID, recipeID: self.recipe.id, title: self.recipe.title,
            servings: status.servings, outcome: outcome, startedAt: status.startedAt, endedAt: status.updatedAt)
    }

    /// Applies an event of the live stream that is not a repetition.
    package mutating func receive(_ event: LiveEvent) -> [Effect] {
        guard event.applianceID == nil || event.applianceID == self.applianceID else { return [] }
        switch event.body {
        case .cooking(let status): return self.receive(status)
        case .timerFired(let session, let label):
            guard session == self.sessionID, self.isNew("timer:\(event.sequence)") else { return [] }
            return [.report(.timer(label: label))]
        case .alert(let alert):
            guard alert.sessionID == nil || alert.sessionID == self.sessionID, self.isActive,
                self.isNew("alert:\(alert.id)")
            else { return [] }
            return [.report(.alert(alert))]
        case .hello(let isResumed): return isResumed || !self.isActive ? [] : [.readStatus]
        case .applianceStatus, .emergencyStopAcknowledged, .preferencesChanged, .unknown: return []
        }
    }

    private mutating func isNew(_ id: String) -> Bool {
        guard !self.reported.contains(id) else { return false }
        self.reported.append(id)
        if self.reported.count > Self.maximumReported { self.reported.removeFirst() }
        return true
    }

    /// Gives up commands that were not answered: an emergency stop overrides them.
    package mutating func abandonCommands() -> [Effect] {
        guard self.pending != nil else { return [] }
        self.pending = nil
        return [.readStatus]
    }
}
