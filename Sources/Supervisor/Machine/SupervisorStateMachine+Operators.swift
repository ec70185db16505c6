extension SupervisorStateMachine {
    /// Restarts one worker, even a stopped, finished or quarantined one. Workers that fail together with it are not
    /// restarted.
    mutating func restart(_ worker: Int) -> [Action] {
        guard !isDraining else { return [] }
        workers[worker].revive()
        let isWaiting = leaveGroup(worker, staysMember: true)
        switch workers[worker].stop(.restart) {
        case .terminate: return terminate(worker)
        case .none: return []
        case .stopped: return isWaiting ? startGroupIfComplete() : spawn(worker)
        }
    }

    /// Stops one worker until an operator restarts it.
    mutating func halt(_ worker: Int) -> [Action] {
        leaveGroup(worker, staysMember: false)
        switch workers[worker].stop(.halt) {
        case .terminate: return terminate(worker)
        case .none: return []
        case .stopped: return [.emit(.stopped(worker: name(worker)))] + startGroupIfComplete()
        }
    }

    /// Removes a worker from its restart group, so that the other members do not wait for it; if it leads the group,
    /// the group's delay ends. Returns true if the worker still starts with the group.
    @discardableResult
    private mutating func leaveGroup(_ worker: Int, staysMember: Bool) -> Bool {
        guard let group = restartGroup, group.members.contains(worker) else { return false }
        let isLeader = group.leader == worker
        if isLeader { restartGroup?.isDue = true }
        let stays = isLeader && staysMember
        if !stays { restartGroup?.members.remove(worker) }
        return stays
    }

    /// Replaces the list of workers: new ones start, removed ones stop, and the others keep running; changes to them
    /// apply from their next start.
    mutating func reconfigure(
        _ specifications: [WorkerSpecification], _ configuration: SupervisorConfiguration
    ) -> [Action] {
        guard !isDraining else { return [] }
        self.configuration = configuration
        var actions: [Action] = []
        var order: [Int] = []
        for specification in specifications {
            if let known = index(of: specification.name) {
                workers[known].specification = specification
                order.append(known)
            } else {
                workers.append(WorkerStateMachine(specification))
                order.append(workers.count - 1)
            }
        }
        let gone = Set(self.order).subtracting(order)
        self.order = order
        for worker in gone.sorted() {
            leaveGroup(worker, staysMember: false)
            switch workers[worker].stop(.remove) {
            case .terminate: actions += terminate(worker)
            case .stopped: actions.append(.emit(.stopped(worker: name(worker))))
            case .none: break
            }
        }
        for worker in order where workers[worker].state == .idle { actions += spawn(worker) }
        return actions + startGroupIfComplete() + finishIfOver()
    }
}
