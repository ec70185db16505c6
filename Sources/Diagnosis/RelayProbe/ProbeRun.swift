import NIOCore
import Nostr
import ProbeReports

/// The state of a probe in progress, shared by its checks; used by one task.
struct ProbeRun {
    let probe: RelayProbe
    let budget: ProbeBudget
    let connections: RelayConnections
    var phases: RelayPhases
    var events: ProbeEvents
    var login: LoginCheck
    private var address: SocketAddress?
    private(set) var sendsEOSE = true

    init(_ probe: RelayProbe, _ connections: RelayConnections, visitor: KeyPair) {
        (self.probe, self.connections) = (probe, connections)
        // Reserve time to delete the written events in any case.
        let reserve = probe.writes ? min(.seconds(1), probe.timeout / 10) : .zero
        budget = ProbeBudget(probe.timeout, step: probe.stepTimeout, reserve: reserve)
        phases = RelayPhases(probe.relay, began: .now)
        events = ProbeEvents(probe.relay, visitor: visitor)
        login = LoginCheck(usesAccount: probe.login != nil)
    }

    mutating func report() async -> RelayProbeReport {
        if let listener = await enter() {
            await exchange(on: listener)
            if !phases.isDead {
                await login.judge(connections, by: budget.deadline, into: &phases)
                MannersCheck.judge(await connections.tally(), into: &phases)
                InformationCheck.judge(
                    phases.information?.information, hasWritten: !events.accepted.isEmpty, into: &phases)
            }
        }
        return phases.complete(.init(writes: probe.writes, isSpent: budget.isSpent, timeout: probe.timeout))
    }

    /// Returns the first connection, once the relay's document is read.
    private mutating func enter() async -> RelayWire? {
        let examiner = RelayExaminer(
            relay: probe.relay, budget: budget, trustRootFiles: probe.trustRootFiles, permits: probe.permits)
        address = await examiner.reach(into: &phases)
        guard let address, let wire = await examiner.connect(to: address, with: connections, into: &phases) else {
            return nil
        }
        await examiner.readInformation(at: address, into: &phases)
        return wire
    }

    private mutating func exchange(on listener: RelayWire) async {
        let subscriptions = SubscriptionCheck(listener: listener)
        let live = await subscriptions.open(&self)
        guard live != nil || !phases.isDead else { return }
        guard probe.writes else { return await FilterChecks(reader: listener).checkReadOnly(&self) }
        guard let writer = await openConnection(for: .write) else { return }
        await WriteCheck(writer: writer).examine(&self)
        guard !phases.isDead else { return }
        await subscriptions.checkLiveDelivery(&self, to: live)
        await ReadbackCheck.writeSamples(&self, on: writer)
        await ReadbackCheck.examine(&self)
        let storage = StorageChecks(writer: writer)
        await storage.checkDuplicate(&self)
        await storage.checkSize(&self)
        await storage.checkExpiration(&self)
        await storage.checkDeletion(&self)
        await storage.checkRate(&self)
    }

    /// Opens another connection; a failure is reported as a fault of the phase that needs it.
    mutating func openConnection(for phase: RelayPhase) async -> RelayWire? {
        guard let address, !budget.isSpent else { return nil }
        let began = ContinuousClock.now
        do { return try await connections.open(address, within: budget.limit) } catch {
            phases.fail(
                .connectionLost, phase, .error, since: began, "refuses another connection: \(error)",
                "ask its operator for the connection limit per address")
            return nil
        }
    }
}

// MARK: Ends of answers

extension ProbeRun {
    mutating func recordMissingEOSE() { sendsEOSE = false }

    /// Deadline of an answer; shorter for a relay that sends no EOSE.
    var answerDeadline: ContinuousClock.Instant {
        sendsEOSE ? budget.deadline : min(budget.deadline, .now + .seconds(1))
    }

    /// Returns whether an event that the answer lacks is missing at the relay.
    func isConclusive(_ answer: QueryResult) -> Bool {
        switch answer.end {
        case .complete, .enough: true
        // The relay sends no EOSE, and the deadline of this answer has passed.
        case .unanswered: !sendsEOSE && !budget.isSpent
        case .closed, .lost: false
        }
    }
}

extension RelayPhases {
    /// Reports an incomplete answer that groups depend on.
    mutating func reportIncomplete(_ end: QueryResult.End, _ phase: RelayPhase, since began: ContinuousClock.Instant) {
        switch end {
        case .closed(let text):
            fail(
                .readRefused, phase, .error, since: began, "refuses queries: \(text)",
                RelayRecord.advice(refusal: text))
        case .lost(let reason):
            fail(
                .connectionLost, phase, .error, since: began, "closes connections: \(PlainText.of(reason))",
                "ask its operator why")
        case .complete, .enough, .unanswered:
            // A missing answer is a fault for messages only; for other queries it proves nothing.
            guard phase == .readback else { return markInconclusive(phase, end) }
            fail(
                .tooSlow, phase, .error, since: began, "is too slow: a query timed out",
                "increase the probe's timeout, or use another relay")
        }
    }

    /// Reports an incomplete answer that groups do not depend on.
    mutating func markInconclusive(_ phase: RelayPhase, _ end: QueryResult.End) {
        switch end {
        case .closed(let text): markUnreached(phase, "refuses the query: \(text)")
        case .lost(let reason): markUnreached(phase, "closes the connection: \(PlainText.of(reason))")
        case .complete, .enough, .unanswered: markUnreached(phase, "a query timed out")
        }
    }
}
