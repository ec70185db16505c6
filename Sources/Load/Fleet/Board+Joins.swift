import LoadReport
import Nostr
import Synchronization

/// An agent that was invited and has not joined yet.
struct PendingJoin {
    let decidedAt: Duration
    var welcomeSentAt: Duration?
    var isWelcomeSeen = false
    var isAdded = false
}

extension Board {
    /// An agent is to become a member of a group.
    func invites(_ agents: [Int], to group: Int) {
        let now = timeline.now
        recorder.reached(.planned, count: agents.count)
        state.withLock { state in
            for agent in agents {
                state.joins[JoinKey(agent: agent, group: group)] = PendingJoin(decidedAt: now)
                state.groups[group]?.invited(agent)
            }
        }
    }

    /// A relay has the commit that adds these agents, and they have key packages.
    func added(_ agents: [Int], to group: Int) {
        recorder.reached(.added, count: agents.count)
        state.withLock { state in
            for agent in agents { state.joins[JoinKey(agent: agent, group: group)]?.isAdded = true }
        }
    }

    /// The inviter has key packages of so many.
    func foundKeyPackages(_ count: Int) { recorder.reached(.keyPackage, count: count) }

    /// An agent will not become a member.
    func lose(_ agent: Int, of group: Int, before stage: JoinStage, reason: String) {
        let now = timeline.now
        let wasPending = state.withLock { state in
            state.groups[group]?.forget(agent)
            return state.joins.removeValue(forKey: JoinKey(agent: agent, group: group)) != nil
        }
        guard wasPending else { return }
        recorder.lost(before: stage, reason: reason, at: now)
        recorder.failure(.join, reason: reason, at: now)
    }

    /// An agent is to be no member any more: it is owed nothing from now on.
    func leaves(_ agent: Int, _ group: Int) {
        let excused = state.withLock { $0.groups[group]?.leaves(agent) ?? 0 }
        recorder.excuseDeliveries(excused, at: timeline.now)
    }

    /// A group is there, and this is the chat of it.
    func founded(_ group: Int, by founder: Int, chatID: String) {
        let early = state.withLock { state in
            state.numbers[chatID] = group
            state.groups[group]?.joined(founder)
            return state.earlyJoins.removeValue(forKey: chatID) ?? []
        }
        for agent in early { self.agent(agent, .joined(chatID: chatID)) }
    }

    /// A group that is to be founded.
    func plans(_ group: Int, founder: Int) {
        state.withLock { $0.groups[group] = GroupLedger(number: group, founder: founder) }
    }

    /// The agents that nobody sees join any more, and how far they came.
    func giveUpJoins() {
        let pending = state.withLock { $0.joins }
        for (key, join) in pending.sorted(by: { ($0.key.group, $0.key.agent) < ($1.key.group, $1.key.agent) }) {
            switch (join.isWelcomeSeen, join.isAdded) {
            case (true, _): lose(key.agent, of: key.group, before: .joined, reason: "welcome seen, not joined in time")
            case (false, true): lose(key.agent, of: key.group, before: .welcomeSeen, reason: "no welcome in time")
            case (false, false): lose(key.agent, of: key.group, before: .added, reason: "not added in time")
            }
        }
    }

    // MARK: What agents tell

    func joined(_ index: Int, _ chatID: String, _ now: Duration) {
        let (join, isKnown) = state.withLock { state -> (PendingJoin?, Bool) in
            guard let group = state.numbers[chatID] else {
                state.earlyJoins[chatID, default: []].append(index)
                return (nil, false)
            }
            let key = JoinKey(agent: index, group: group)
            state.groups[group]?.joined(index)
            state.joinedAt[key] = now
            return (state.joins.removeValue(forKey: key), true)
        }
        guard isKnown, let join else { return }
        if !join.isWelcomeSeen { recorder.reached(.welcomeSeen) }
        recorder.reached(.joined)
        recorder.success(.join, from: join.decidedAt, to: now)
    }

    func wrapSent(to recipient: PublicKey, _ now: Duration) {
        guard let index = indexes[recipient] else { return }
        state.withLock { state in
            for key in state.joins.keys where key.agent == index && state.joins[key]?.welcomeSentAt == nil {
                state.joins[key]?.welcomeSentAt = now
            }
        }
    }

    func wrapSeen(by index: Int, _ now: Duration) {
        let sent = state.withLock { state -> [Duration] in
            var sent: [Duration] = []
            for key in state.joins.keys where key.agent == index {
                guard let join = state.joins[key], !join.isWelcomeSeen, let at = join.welcomeSentAt else { continue }
                state.joins[key]?.isWelcomeSeen = true
                sent.append(at)
            }
            return sent
        }
        recorder.reached(.welcomeSeen, count: sent.count)
        for at in sent { recorder.success(.welcomeSeen, from: at, to: now) }
    }
}
