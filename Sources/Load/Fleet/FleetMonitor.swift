import LoadReport
import Nostr
import PikaCore
import Synchronization

/// State of the fleet: turns agents' events into records.
///
/// One lock protects all of it, and is held for microseconds only.
final class FleetMonitor: AgentListener {
    struct State {
        var groups: [Int: GroupLedger] = [:]
        var numbers: [ChatID: Int] = [:]
        /// Joins reported before the group's chat id was known, with their times.
        var earlyJoins: [ChatID: [(agent: Int, at: Duration)]] = [:]
        var runs: [Int: AgentRun] = [:]
        /// Number of open connections of all runs.
        var openConnections = 0
        var joins: [JoinKey: PendingJoin] = [:]
        /// Gift wraps of invitations, and their joins.
        var wraps: [EventID: JoinKey] = [:]
        var joinedAt: [JoinKey: Duration] = [:]
        var sends: [EventID: PendingSend] = [:]
        /// Delivery status of messages reported before their ids were known.
        var earlyDeliveries: [EventID: AppState.Delivery] = [:]
        var commits: [JoinKey: UnconfirmedCommit] = [:]
        var lastInboxIDs: [Int: Int64] = [:]
        /// Stamps of the latest received messages, by inner event.
        var recent = RecentMessages<MessageStamp>()
        /// The latest messages of agents whose sending has ended. In the second generation it may still fail.
        var finished = RecentMessages<FinishedSend>()
        var running = 0

        /// Notes a connection's change; returns the number of open connections.
        mutating func note(_ relay: RelayURL, of agent: Int, isOpen: Bool) -> Int {
            guard var run = self.runs.removeValue(forKey: agent) else { return self.openConnections }
            self.openConnections -= run.connections.count
            if isOpen { run.connections.insert(relay) } else { run.connections.remove(relay) }
            self.openConnections += run.connections.count
            self.runs[agent] = run
            return self.openConnections
        }

        mutating func begin(_ run: AgentRun, of agent: Int) {
            self.openConnections -= self.runs.updateValue(run, forKey: agent)?.connections.count ?? 0
        }
    }

    /// An agent and a group.
    struct JoinKey: Hashable {
        let agent: Int
        let group: Int
    }

    /// One run of an agent.
    struct AgentRun {
        let startedAt: Duration
        let isFirst: Bool
        var connections: Set<RelayURL> = []
        /// Relays that were connected at least once in this run.
        var reached: Set<RelayURL> = []
        var isPublished = false
        var isRead = false
    }

    let recorder: LoadRecorder
    let timeline: Timeline
    /// Agents' indexes by public key.
    let indexes: [PublicKey: Int]
    /// ``GroupLedger/settlesBranches`` of the groups.
    let settlesBranches: Bool
    let state = Mutex(State())

    init(recorder: LoadRecorder, timeline: Timeline, indexes: [PublicKey: Int], settlesBranches: Bool = false) {
        self.settlesBranches = settlesBranches
        self.recorder = recorder
        self.timeline = timeline
        self.indexes = indexes
    }

    func agent(_ index: Int, _ event: AgentEvent) {
        let now = timeline.now
        switch event {
        case .connected(let relay): connected(index, relay, now)
        case .disconnected(let relay, let reason): disconnected(index, relay, reason, now)
        case .keyPackagePublished: published(index, now)
        case .caughtUp: caughtUp(index, now)
        case .wrapSent(let wrap, let recipient): wrapSent(wrap, by: index, to: recipient, now)
        case .wrapSeen(let wrap): wrapSeen(wrap, by: index, now)
        case .joined(let chatID): joined(index, chatID, now)
        case .message(let chatID, let message, let inboxID): received(index, chatID, message, inboxID, now)
        case .withdrawn(let chatID, let message): withdrawn(index, chatID, message, now)
        case .commit(let chatID, let commit): committed(index, chatID, commit, now)
        case .delivery(let messageID, let delivery): delivered(messageID, delivery, now)
        case .failed(let reason): recorder.exception("agent ended: \(reason)", at: now)
        }
    }

    // MARK: Runs

    /// Notes an agent's imminent start. Its queued messages are sent and reported in the new run, but nothing waits for
    /// them.
    func beginRun(_ index: Int) {
        let now = timeline.now
        let unanswered = state.withLock { state in
            state.begin(AgentRun(startedAt: now, isFirst: state.runs[index] == nil), of: index)
            let unanswered = state.sends.filter { $0.value.stamp.sender == index }
            for messageID in unanswered.keys { state.sends[messageID]?.isAbandoned = true }
            return unanswered.values
        }
        for send in unanswered { send.done() }
    }

    private func connected(_ index: Int, _ relay: RelayURL, _ now: Duration) {
        let (run, isFirst, open) = state.withLock { state -> (AgentRun?, Bool, Int) in
            let open = state.note(relay, of: index, isOpen: true)
            return (state.runs[index], state.runs[index]?.reached.insert(relay).inserted ?? false, open)
        }
        recorder.gauge(.connections, Double(open), at: now)
        guard isFirst, let run else { return }
        recorder.success(.connect, from: run.startedAt, to: now)
    }

    private func disconnected(_ index: Int, _ relay: RelayURL, _ reason: String, _ now: Duration) {
        let (hasReached, open) = state.withLock { state in
            let open = state.note(relay, of: index, isOpen: false)
            return (state.runs[index]?.reached.contains(relay) ?? true, open)
        }
        recorder.gauge(.connections, Double(open), at: now)
        // A later loss of the connection is not a failure to connect.
        if !hasReached { recorder.failure(.connect, reason: reason, at: now) }
    }

    private func published(_ index: Int, _ now: Duration) {
        let run = state.withLock { state in
            state.runs[index]?.isPublished = true
            return state.runs[index]
        }
        guard let run, run.isFirst else { return }
        recorder.success(.publishKeyPackage, from: run.startedAt, to: now)
    }

    private func caughtUp(_ index: Int, _ now: Duration) {
        let run = state.withLock { state in
            state.runs[index]?.isRead = true
            return state.runs[index]
        }
        guard let run else { return }
        recorder.success(run.isFirst ? .createIdentity : .coldSync, from: run.startedAt, to: now)
    }

    /// Number of agents whose key packages are published.
    var publishedAgents: Int { state.withLock { $0.runs.values.count { $0.isPublished || !$0.isFirst } } }
    var hasReachedRelays: Bool { state.withLock { $0.runs.values.contains { !$0.reached.isEmpty } } }

    // MARK: Groups

    func group(_ number: Int) -> GroupLedger? { state.withLock { $0.groups[number] } }
    func isMember(_ agent: Int, of group: Int) -> Bool {
        state.withLock { $0.groups[group]?.memberships[agent] == .member }
    }
    /// Number of expected deliveries that have not happened.
    var outstanding: Int { state.withLock { $0.groups.values.reduce(0) { $0 + $1.outstanding } } }
    var pendingJoins: Int { state.withLock { $0.joins.count } }
    /// Number of messages without a relay's answer that may still get one.
    var pendingSends: Int {
        state.withLock { state in
            state.sends.values.count { !$0.isAbandoned || state.groups[$0.group]?.isOutstanding($0.stamp) == true }
        }
    }
    var pendingCommits: Int { state.withLock { $0.commits.count } }
}

/// The clock of a run: time since its start.
struct Timeline: Sendable {
    let start = ContinuousClock.now

    var now: Duration { ContinuousClock.now - start }
    func instant(_ time: Duration) -> ContinuousClock.Instant { start + time }
}
