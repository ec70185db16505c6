import LoadReport
import Nostr
import PikaCore
import Synchronization

/// An invited agent that has not joined yet.
struct PendingJoin {
    let decidedAt: Duration
    var reached = JoinStage.planned
    /// The times when its gift wraps were sent: more than one if it was added again after a lost race.
    var wraps: [EventID: Duration] = [:]
}

extension FleetMonitor {
    /// Notes that agents are to become members of a group.
    func beginJoins(_ agents: [Int], to group: Int) {
        let now = timeline.now
        recorder.reached(.planned, count: agents.count)
        state.withLock { state in
            for agent in agents {
                state.joins[JoinKey(agent: agent, group: group)] = PendingJoin(decidedAt: now)
                state.groups[group]?.invited(agent)
            }
        }
    }

    /// Notes that a change of a group, which is about to be made, adds agents.
    func beginAddition(of agents: [Int], to group: Int) { state.withLock { $0.groups[group]?.adding(agents) } }

    /// Notes that invited agents have reached a stage, and all stages before it.
    func reached(_ stage: JoinStage, _ agents: [Int], of group: Int) {
        let stages = state.withLock { state in
            agents.flatMap { state.advance(JoinKey(agent: $0, group: group), to: stage) }
        }
        for stage in stages { recorder.reached(stage) }
    }

    /// Notes that an agent will not become a member.
    func failJoin(_ agent: Int, of group: Int, reason: String) {
        let now = timeline.now
        let pending = state.withLock { state in
            state.groups[group]?.forget(agent)
            return state.joins.removeValue(forKey: JoinKey(agent: agent, group: group))
        }
        guard let pending, let next = JoinStage(rawValue: pending.reached.rawValue + 1) else { return }
        recorder.lost(before: next, reason: reason, at: now)
        recorder.failure(.join, reason: reason, at: now)
    }

    /// Notes that an agent leaves a group. From now on no delivery to it is expected. Its messages that no relay has
    /// accepted are no longer expected either, and it stops waiting for them.
    func beginLeave(_ agent: Int, _ group: Int) {
        let (excused, unanswered) = state.withLock { state in
            let sends = state.sends.filter { $0.value.stamp.sender == agent && $0.value.group == group }
            for messageID in sends.keys { state.sends[messageID]?.isAbandoned = true }
            return (state.groups[group]?.beginLeave(agent) ?? 0, sends.values)
        }
        recorder.excuseDeliveries(excused, at: timeline.now)
        for send in unanswered { send.done() }
    }

    /// Notes that a group exists, with its chat id.
    func groupCreated(_ group: Int, by founder: Int, chatID: ChatID) {
        let early = state.withLock { state in
            state.numbers[chatID] = group
            state.groups[group]?.joined(founder)
            return state.earlyJoins.removeValue(forKey: chatID) ?? []
        }
        for join in early { joined(join.agent, chatID, join.at) }
    }

    /// Registers a group that is to be founded.
    func planGroup(_ group: Int, founder: Int) {
        let ledger = GroupLedger(number: group, founder: founder, settlesBranches: settlesBranches)
        state.withLock { $0.groups[group] = ledger }
    }

    /// Abandons pending joins, and records how far each came.
    func giveUpJoins() {
        let pending = state.withLock { $0.joins }
        for (key, join) in pending.sorted(by: { ($0.key.group, $0.key.agent) < ($1.key.group, $1.key.agent) }) {
            let reason =
                switch join.reached {
                case .planned, .keyPackage: "not added in time"
                case .added: "no welcome in time"
                default: "welcome seen, but not joined in time"
                }
            failJoin(key.agent, of: key.group, reason: reason)
        }
    }

    // MARK: Events of agents

    func joined(_ index: Int, _ chatID: ChatID, _ now: Duration) {
        let (join, stages, excused) = state.withLock { state -> (PendingJoin?, [JoinStage], Int) in
            guard let group = state.numbers[chatID] else {
                state.earlyJoins[chatID, default: []].append((index, now))
                return (nil, [], 0)
            }
            let key = JoinKey(agent: index, group: group)
            let excused = state.groups[group]?.joined(index) ?? 0
            state.joinedAt[key] = now
            let stages = state.advance(key, to: .joined)
            return (state.joins.removeValue(forKey: key), stages, excused)
        }
        if excused > 0 { recorder.excuseDeliveries(excused, at: now) }
        guard let join else { return }
        for stage in stages { recorder.reached(stage) }
        recorder.success(.join, from: join.decidedAt, to: now)
    }

    /// Assigns a gift wrap, which does not name its group, to a join: among the recipient's joins to groups that the
    /// sender founds, the one with the fewest gift wraps so far, and then the oldest. A repeated gift wrap keeps its
    /// join.
    func wrapSent(_ wrap: EventID, by sender: Int, to recipient: PublicKey, _ now: Duration) {
        guard let index = indexes[recipient] else { return }
        state.withLock { state in
            guard state.wraps[wrap] == nil else { return }
            let open = state.joins.filter { $0.key.agent == index && state.groups[$0.key.group]?.founder == sender }
            let order = { (join: (key: JoinKey, value: PendingJoin)) in
                (join.value.wraps.count, join.value.decidedAt, join.key.group)
            }
            guard let key = open.min(by: { order($0) < order($1) })?.key else { return }
            state.wraps[wrap] = key
            state.joins[key]?.wraps[wrap] = now
        }
    }

    func wrapSeen(_ wrap: EventID, by index: Int, _ now: Duration) {
        let (sentAt, stages) = state.withLock { state -> (Duration, [JoinStage]) in
            guard let key = state.wraps[wrap], key.agent == index, let sentAt = state.joins[key]?.wraps[wrap] else {
                return (now, [])
            }
            return (sentAt, state.advance(key, to: .welcomeSeen))
        }
        guard !stages.isEmpty else { return }
        for stage in stages { recorder.reached(stage) }
        recorder.success(.welcomeSeen, from: sentAt, to: now)
    }
}

extension FleetMonitor.State {
    /// Advances a join to a stage; returns the stages newly reached.
    fileprivate mutating func advance(_ key: FleetMonitor.JoinKey, to stage: JoinStage) -> [JoinStage] {
        guard let before = joins[key]?.reached, before < stage else { return [] }
        joins[key]?.reached = stage
        return JoinStage.allCases.filter { before < $0 && $0 <= stage }
    }
}
