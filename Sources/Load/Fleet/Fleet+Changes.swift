import LoadReport
import PikaCore

extension Fleet {
    /// Changes memberships of random groups: in turn, a member is removed, one leaves, or agents are added.
    func churn(at rate: PerSecond, until end: Duration) async {
        await arrivals(at: rate, until: end) { _ in
            let groups = createdGroups
            guard let number = draw({ groups.randomElement(using: &$0) }) else { return }
            change(number, turn: draw { Int.random(in: 0..<4, using: &$0) })
        }
    }

    /// Performs one change. Half of the changes add members, so that groups keep their size.
    private func change(_ number: Int, turn: Int) {
        guard let ledger = monitor.group(number) else { return }
        let others = ledger.members.filter { $0 != ledger.founder }
        switch turn {
        case 0:
            guard others.count > 1, let member = draw({ others.randomElement(using: &$0) }) else { return }
            remove(member, from: number, by: ledger.founder)
        case 1:
            guard others.count > 1, let member = draw({ others.randomElement(using: &$0) }) else { return }
            leave(member, number)
        default:
            let outside = agents.indices.filter { ledger.memberships[$0] == nil }
            guard ledger.memberships.count <= plan.groups.largest, let chatID = chat(of: number),
                let agent = draw({ outside.randomElement(using: &$0) }),
                monitor.beginCommit(ledger.founder, to: number, .add)
            else { return }
            monitor.beginJoins([agent], to: number)
            add([agent], to: number, chatID, by: ledger.founder) {}
        }
    }

    private func remove(_ member: Int, from number: Int, by admin: Int) {
        guard let chatID = chat(of: number), monitor.beginCommit(admin, to: number, .remove) else { return }
        monitor.beginLeave(member, number)
        perform(.removeGroupMembers(chatID: chatID, peers: keys(of: [member])), of: admin, in: number)
    }

    private func leave(_ member: Int, _ number: Int) {
        guard let chatID = chat(of: number), monitor.beginCommit(member, to: number, .leave) else { return }
        monitor.beginLeave(member, number)
        perform(.leaveGroup(chatID: chatID), of: member, in: number)
    }

    /// Makes random members renew their keys.
    func commit(at rate: PerSecond, until end: Duration) async {
        await arrivals(at: rate, until: end) { _ in
            guard let (number, member) = randomMember({ self.monitor.group($0)?.members ?? [] }) else { return }
            renewKeys(of: member, in: number)
        }
    }

    /// Makes several members of one group renew their keys at the same moment, repeatedly: one of them wins each time.
    func storm(_ storm: LoadPlan.Storm, until end: Duration) async {
        var due = timeline.now + storm.every
        while due < end {
            do { try await ContinuousClock().sleep(until: timeline.instant(due)) } catch { return }
            let groups = createdGroups
            if let number = draw({ groups.randomElement(using: &$0) }) {
                let members = monitor.group(number)?.members ?? []
                for member in draw({ members.shuffled(using: &$0) }).prefix(storm.members) {
                    renewKeys(of: member, in: number)
                }
            }
            due += storm.every
        }
    }

    private func renewKeys(of member: Int, in number: Int) {
        guard let chatID = chat(of: number), monitor.beginCommit(member, to: number, .commit) else { return }
        perform(.updateGroupKeys(chatID: chatID), of: member, in: number)
    }

    /// Starts an action without waiting for it: a slow change must not hold up the load.
    private func perform(_ action: AppAction, of agent: Int, in number: Int) {
        agents[agent].dispatch(action) { [monitor] result in
            switch result {
            case .success: monitor.commitEnded(agent, to: number, failure: nil)
            case .failure(let error): monitor.commitEnded(agent, to: number, failure: error)
            }
        }
    }
}
