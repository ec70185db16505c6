package import Appliance
package import Nostr

/// An appliance that cooks on a virtual clock.
package struct SimulatedAppliance: Hashable, Sendable {
    private struct Run: Hashable {
        let id: String
        let commandID: String
        let recipe: Recipe
        let servings: Int
        let startedAt: UnixTime
        var phase = CookingPhase.cooking
        var step = 0
        /// Milliseconds of the current step that have passed.
        var elapsed: Int64 = 0
        var revision = 1
        var updatedAt: UnixTime
    }

    /// Receipts and acknowledgements that are remembered; the oldest is forgotten.
    static let maximumRemembered = 1_000

    package let id: String
    package var name: String
    package let localKey: String
    private var run: Run?
    private var receipts: [CommandReceipt] = []
    private var acknowledged: [EmergencyStopReceipt] = []
    /// Starts that were executed.
    package private(set) var starts = 0
    /// Emergency stops that were executed.
    package private(set) var stops = 0

    package init(id: String, name: String, localKey: String) {
        self.id = id
        self.name = name
        self.localKey = localKey
    }

    package var state: ApplianceState {
        switch self.run?.phase {
        case .cooking: .cooking
        case .paused: .paused
        case .stopped: .stopped
        case .failed: .failed
        case .finished, nil: .idle
        }
    }

    package var status: CookingStatus? {
        self.run.map { run in
            let total = run.recipe.seconds
            let done = run.recipe.steps.prefix(run.step).reduce(0) { $0 + $1.seconds } + Int(run.elapsed / 1_000)
            let isFinished = run.phase == .finished
            return CookingStatus(
                sessionID: run.id, commandID: run.commandID, applianceID: self.id, recipeID: run.recipe.id,
                servings: run.servings,
                revision: run.revision, phase: run.phase, step: run.step, stepCount: run.recipe.steps.count,
                stepRemainingSeconds: isFinished
                    ? 0 : max(0, run.recipe.steps[run.step].seconds - Int(run.elapsed / 1_000)),
                remainingSeconds: isFinished ? 0 : max(0, total - done), totalSeconds: total, startedAt: run.startedAt,
                updatedAt: run.updatedAt)
        }
    }

    private var isCooking: Bool { self.run.map { !$0.phase.isFinal } ?? false }

    // MARK: Commands

    /// Executes a command once; a repeated one gets its first receipt.
    ///
    /// - Parameter sessionID: the id of the session that a start creates.
    package mutating func execute(
        _ command: CommandRequest, recipe: Recipe?, sessionID: String, now: UnixTime
    ) -> (receipt: CommandReceipt, events: [LiveEvent.Body]) {
        if let known = self.receipts.first(where: { $0.id == command.id }) { return (known, []) }
        let (receipt, events) = self.perform(command, recipe, sessionID, now)
        self.receipts.append(receipt)
        if self.receipts.count > Self.maximumRemembered { self.receipts.removeFirst() }
        return (receipt, events)
    }

    private mutating func perform(
        _ command: CommandRequest, _ recipe: Recipe?, _ sessionID: String, _ now: UnixTime
    ) -> (CommandReceipt, [LiveEvent.Body]) {
        let refused = { (reason: String) in
            (CommandReceipt(id: command.id, state: .refused, reason: reason), [LiveEvent.Body]())
        }
        guard now < command.expiresAt else {
            return (CommandReceipt(id: command.id, state: .expired, reason: APIProblem.Known.commandExpired), [])
        }
        if command.kind == .start {
            guard !self.isCooking else { return refused(APIProblem.Known.busy) }
            guard let recipe else { return refused("unknown_recipe") }
            self.run = Run(
                id: sessionID, commandID: command.id, recipe: recipe, servings: command.servings ?? recipe.servings,
                startedAt: now,
                updatedAt: now)
            self.starts += 1
            let receipt = CommandReceipt(id: command.id, state: .accepted, sessionID: sessionID)
            return (receipt, self.statusEvents() + self.attention())
        }
        guard self.isCooking, self.run?.id == command.sessionID else { return refused("no_session") }
        var events: [LiveEvent.Body] = []
        switch command.kind {
        case .pause: self.run?.phase = .paused
        case .resume: self.run?.phase = .cooking
        case .cancel: self.run?.phase = .stopped
        case .next: events = self.finishStep()
        case .start: break
        }
        self.touch(now)
        return (
            CommandReceipt(id: command.id, state: .accepted, sessionID: self.run?.id), events + self.statusEvents()
        )
    }

    /// Switches the heating off, and ends a session. A repeated request gets the first acknowledgement.
    package mutating func stop(
        _ request: EmergencyStopRequest, now: UnixTime
    ) -> (receipt: EmergencyStopReceipt, events: [LiveEvent.Body]) {
        if let known = self.acknowledged.first(where: { $0.id == request.id }) { return (known, []) }
        let receipt = EmergencyStopReceipt(id: request.id, acknowledgedAt: now)
        self.acknowledged.append(receipt)
        if self.acknowledged.count > Self.maximumRemembered { self.acknowledged.removeFirst() }
        self.stops += 1
        var events: [LiveEvent.Body] = [.emergencyStopAcknowledged(receipt)]
        if self.isCooking {
            self.run?.phase = .stopped
            self.touch(now)
            events += self.statusEvents()
        }
        return (receipt, events)
    }

    // MARK: Time

    /// Cooks for a duration.
    package mutating func advance(milliseconds: Int64, now: UnixTime) -> [LiveEvent.Body] {
        guard var left = self.run.map({ _ in max(0, milliseconds) }), self.run?.phase == .cooking else { return [] }
        let before = self.status
        var events: [LiveEvent.Body] = []
        while left > 0, let run = self.run, run.phase == .cooking {
            let length = Int64(run.recipe.steps[run.step].seconds) * 1_000
            let part = min(left, length - run.elapsed)
            left -= part
            self.run?.elapsed += part
            if run.elapsed + part >= length { events += self.finishStep() }
        }
        guard let after = self.status, after.remainingSeconds != before?.remainingSeconds || !events.isEmpty else {
            return []
        }
        self.touch(now)
        return events + self.statusEvents()
    }

    private mutating func finishStep() -> [LiveEvent.Body] {
        guard let run = self.run else { return [] }
        var events: [LiveEvent.Body] = []
        if let label = run.recipe.steps[run.step].timer { events.append(.timerFired(sessionID: run.id, label: label)) }
        if run.step + 1 < run.recipe.steps.count {
            self.run?.step += 1
            self.run?.elapsed = 0
            events += self.attention()
        } else {
            self.run?.phase = .finished
        }
        return events
    }

    private func attention() -> [LiveEvent.Body] {
        guard let run, run.recipe.steps[run.step].needsAttention else { return [] }
        return [
            .alert(
                LiveEvent.Alert(
                    id: "\(run.id)-\(run.step)", severity: .attention, code: "act",
                    text: run.recipe.steps[run.step].text, sessionID: run.id))
        ]
    }

    private func statusEvents() -> [LiveEvent.Body] {
        self.status.map { [.cooking($0), .applianceStatus(isOnline: true, state: self.state)] } ?? []
    }

    private mutating func touch(_ now: UnixTime) {
        self.run?.revision += 1
        self.run?.updatedAt = now
    }
}
