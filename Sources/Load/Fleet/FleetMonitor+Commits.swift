import LoadReport
import PikaCore
import Synchronization

/// A commit that no relay has accepted yet.
struct UnconfirmedCommit {
    let operation: LoadOperation
    let startedAt: Duration
    /// The time when it lost a race against another commit; nil if it has not lost one.
    var lostAt: Duration?
}

extension FleetMonitor {
    /// Notes that an agent starts to change a group; returns false if it already is changing it.
    func beginCommit(_ agent: Int, to group: Int, _ operation: LoadOperation) -> Bool {
        let now = timeline.now
        let key = JoinKey(agent: agent, group: group)
        return state.withLock { state in
            guard state.commits[key] == nil else { return false }
            state.commits[key] = UnconfirmedCommit(operation: operation, startedAt: now)
            return true
        }
    }

    func commitEnded(_ agent: Int, to group: Int, failure: (any Error)?) {
        let now = timeline.now
        guard let commit = state.withLock({ $0.commits.removeValue(forKey: JoinKey(agent: agent, group: group)) })
        else { return }
        if let failure {
            recorder.failure(commit.operation, reason: failure.loadReason, at: now)
            if commit.lostAt != nil { recorder.failure(.conflictRetry, reason: failure.loadReason, at: now) }
        } else {
            recorder.success(commit.operation, from: commit.startedAt, to: now)
            if let lostAt = commit.lostAt { recorder.success(.conflictRetry, from: lostAt, to: now) }
        }
    }

    /// Notes another member's commit that wins against the agent's own pending one.
    func committed(_ index: Int, _ chatID: ChatID, _ commit: CommitEvent, _ now: Duration) {
        let (hasLost, excused) = state.withLock { state in
            guard let group = state.numbers[chatID] else { return (false, 0) }
            state.groups[group]?.learned(index, of: commit.added.compactMap { self.indexes[$0] })
            let excused = commit.removedSelf ? state.groups[group]?.left(index) ?? 0 : 0
            let key = JoinKey(agent: index, group: group)
            guard !commit.isOwn, state.commits[key] != nil, state.commits[key]?.lostAt == nil else {
                return (false, excused)
            }
            state.commits[key]?.lostAt = now
            return (true, excused)
        }
        if excused > 0 { recorder.excuseDeliveries(excused, at: now) }
        if hasLost { recorder.conflict() }
    }
}

extension Error {
    /// A short reason without names, so that equal failures are counted together.
    var loadReason: String {
        switch self {
        case let error as AppCoreError: "\(error.code)"
        case is AgentNotRunning, is ActionTimeout: "\(self)"
        default: "\(type(of: self))"
        }
    }
}
