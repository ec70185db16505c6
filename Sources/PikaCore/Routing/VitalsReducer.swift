import Marmot
import Nostr

/// Reports the core's vitals.
extension CoreModel {
    /// The scope under which the time of the newest query is stored; no bot's name has this form.
    static let vitalsScope = "pikabot/vitals"

    /// Answers after a row was written, which proves that the store accepts writes.
    func queryVitals(_ number: Int, _ step: inout CoreStep) {
        let time = withUnsafeBytes(of: step.now.seconds.bigEndian) { Array($0) }
        step.changes.append(.putValue(scope: Self.vitalsScope, key: "asked", value: time))
        step.effects.append(.answerVitals(number, self.vitals(step.now)))
    }

    private func vitals(_ now: UnixTime) -> CoreVitals {
        CoreVitals(
            takenAt: now, state: self.state, inboxDepth: self.inbox.count,
            oldestInboxAt: self.inbox.oldestArrival, outboxDepth: self.delivery.queue.count,
            oldestOutboxAt: self.delivery.queue.oldestQueuedAt.map(UnixTime.init(milliseconds:)),
            deadLetters: self.delivery.failedCount,
            groupCount: self.groups.values.lazy.filter(\.isActive).count,
            announcesKeyPackage: self.configuration.publishesKeyPackage,
            keyPackageEndsAt: GroupGeneration.allCases.compactMap { self.keyPackages.announced($0)?.notAfter }.min(),
            rollbackStorms: self.rollbackStorms(now: now), parked: self.parked,
            unsent: self.delivery.unsent(limit: CoreVitals.maximumUnsent))
    }

    private var parked: ParkedEvents {
        let waiting = self.inbound.waiting
        return ParkedEvents(
            waiting: waiting.total.events, waitingBytes: waiting.total.bytes, held: self.catchUp.heldCount,
            heldBytes: self.catchUp.heldBytes, trials: waiting.trialCount + self.convergence.branches.trialCount)
    }
}
