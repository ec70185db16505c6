import MLS
import Marmot
import Nostr

/// A branch that was abandoned for a better commit, and a probe of whether other members continue on it.
///
/// The probe is incremental: each waiting event is tried with each key once, however many events arrive.
struct AbandonedBranch: Sendable {
    let group: MarmotGroup
    /// The epoch that the better commit ended.
    let epoch: Epoch
    /// A copy of the group to which the waiting commits of the branch are applied. Not stored.
    private var probe: MarmotGroup
    private var trials = OuterKeyTrials()
    /// Events that a key of the probe opened but that it could not apply yet.
    private var opened: Set<EventID> = []
    private var authors: Set<PublicKey> = []
    private var isFresh = true
    private var removesAccount = false

    init(group: MarmotGroup, epoch: Epoch) {
        self.group = group
        self.epoch = epoch
        self.probe = group
    }

    /// Outer-layer decryptions attempted.
    var trialCount: Int { self.trials.trialCount }

    /// Tries newly arrived events; on the first call, and whenever the probe advances, all waiting events.
    mutating func observe(_ fresh: [Event], now: UnixTime, waiting: () -> [Event]) {
        guard !self.removesAccount else { return }
        var queue = self.isFresh ? waiting() : fresh
        self.isFresh = false
        var ring = self.probe.outerKeyRing
        self.trials.follow(ring)
        while !queue.isEmpty {
            var moved = false
            for event in queue where self.opened.contains(event.id) || self.trials.opens(event, ring) {
                self.opened.remove(event.id)
                switch self.probe.ingest(event, now: now) {
                case .commit(let report):
                    guard !report.removedSelf else {
                        self.removesAccount = true
                        return
                    }
                    self.authors.insert(report.committer)
                    ring = self.probe.outerKeyRing
                    self.trials.follow(ring)
                    moved = true
                case .message(let message): self.authors.insert(message.rumor.pubkey)
                case .proposal: moved = moved || !self.opened.isEmpty
                case .waiting: self.opened.insert(event.id)
                case .refused, .ownCommit, .ownEcho, .otherCopy: break
                }
            }
            queue = moved ? waiting() : []
        }
    }

    mutating func forget(_ id: EventID) {
        self.opened.remove(id)
        self.trials.forget(id)
    }

    /// Whether other members continue on this branch: beyond the reach of rollbacks, and more than one of them, since a
    /// single member could stay there to mislead others.
    func isContinued(besides account: PublicKey) -> Bool {
        guard !self.removesAccount else { return false }
        let others = Set(self.probe.members).subtracting([account])
        return self.probe.epoch > self.epoch.later(by: self.probe.profile.pastEpochs)
            && self.authors.intersection(others).count >= min(2, others.count)
    }
}
