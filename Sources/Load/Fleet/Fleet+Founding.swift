import LoadReport
import Nostr
import PikaCore

extension Fleet {
    /// Starts all agents at the plan's rate, and waits until their key packages are published; returns false if none
    /// is.
    func ramp() async -> Bool {
        let gap = Duration.seconds(1) / plan.agents.rampPerSecond
        for agent in agents {
            let due = gap * agent.index
            do { try await ContinuousClock().sleep(until: timeline.instant(due)) } catch { return false }
            monitor.beginRun(agent.index)
            agent.start()
            recorder.gauge(.agents, Double(agent.index + 1), at: timeline.now)
        }
        // A relay that no agent has reached by then counts as down.
        await until(within: actionTimeout / 4) { self.monitor.hasReachedRelays }
        if monitor.hasReachedRelays {
            await until(within: actionTimeout) { self.monitor.publishedAgents == self.agents.count }
        }
        let missing = agents.count - monitor.publishedAgents
        for _ in 0..<missing { recorder.failure(.publishKeyPackage, reason: "timed out", at: timeline.now) }
        return missing < agents.count
    }

    /// Creates all groups, several at a time, and waits until every member has joined or was abandoned.
    func createGroups() async {
        let queue = WorkQueue((0..<plan.groups.count).map { (number: $0, members: roster(of: $0)) })
        await withDiscardingTaskGroup { group in
            for _ in 0..<plan.groups.founding {
                group.addTask {
                    while !Task.isCancelled, let next = queue.next() {
                        await self.createGroup(next.number, next.members)
                    }
                }
            }
        }
        await until(within: actionTimeout) { self.monitor.pendingJoins == 0 }
        if !Task.isCancelled { monitor.giveUpJoins() }
    }

    /// Returns random distinct agents, the founder first; groups may overlap.
    private func roster(of number: Int) -> [Int] {
        let size = min(plan.groups.size(of: number), agents.count)
        return draw { generator in Array(Array(agents.indices).shuffled(using: &generator).prefix(size)) }
    }

    private func createGroup(_ number: Int, _ members: [Int]) async {
        let founder = members[0]
        monitor.planGroup(number, founder: founder)
        let first = Array(members.dropFirst().prefix(Self.maximumAddedMembers))
        monitor.beginJoins(Array(members.dropFirst()), to: number)
        let found = await findKeyPackages(of: first, by: founder, group: number)
        guard !Task.isCancelled else { return }
        let began = timeline.now
        monitor.beginAddition(of: found + [founder], to: number)
        do {
            let outcome = try await agents[founder].perform(
                .createGroupChat(name: "load \(number)", peers: keys(of: found), missing: .proceedWithout),
                within: actionTimeout)
            let chatID = try addedTo(outcome, found, group: number)
            recorder.success(.createGroup, from: began, to: timeline.now)
            note(chatID, of: number)
            monitor.groupCreated(number, by: founder, chatID: chatID)
            recorder.gauge(.groups, Double(chatCount), at: timeline.now)
        } catch {
            // The outcome of an interrupted action is unknown.
            guard !Task.isCancelled else { return }
            recorder.failure(.createGroup, reason: error.loadReason, at: timeline.now)
            for member in members.dropFirst() {
                monitor.failJoin(member, of: number, reason: "group not created: \(error.loadReason)")
            }
            return
        }
        if let chatID = chat(of: number) {
            await addRest(Array(members.dropFirst(1 + Self.maximumAddedMembers)), to: number, chatID, by: founder)
        }
    }

    private func addRest(_ members: [Int], to number: Int, _ chatID: ChatID, by founder: Int) async {
        for start in stride(from: 0, to: members.count, by: Self.maximumAddedMembers) {
            let batch = Array(members[start..<min(members.count, start + Self.maximumAddedMembers)])
            let found = await findKeyPackages(of: batch, by: founder, group: number)
            guard !found.isEmpty else { continue }
            guard monitor.beginCommit(founder, to: number, .add) else {
                for member in found { monitor.failJoin(member, of: number, reason: "busy") }
                continue
            }
            let (added, report) = AsyncStream.makeStream(of: Never.self)
            add(found, to: number, chatID, by: founder) { report.finish() }
            await Self.wait(for: added, within: actionTimeout)
        }
    }

    /// Waits until the stream ends, at most for `limit`.
    static func wait(for end: AsyncStream<Never>, within limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in end {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Returns the members whose key packages are usable.
    private func findKeyPackages(of members: [Int], by founder: Int, group: Int) async -> [Int] {
        guard !members.isEmpty else { return [] }
        let began = timeline.now
        do {
            guard
                case .found(let verdicts) = try await agents[founder].perform(
                    .findKeyPackages(keys(of: members)), within: actionTimeout)
            else { return [] }
            recorder.success(.fetchKeyPackage, from: began, to: timeline.now)
            let usable = members.filter { verdicts[agents[$0].key.publicKey].map(plan.groups.admits) == true }
            for member in members where !usable.contains(member) {
                monitor.failJoin(member, of: group, reason: "no usable key package")
            }
            monitor.reached(.keyPackage, usable, of: group)
            return usable
        } catch {
            guard !Task.isCancelled else { return [] }
            recorder.failure(.fetchKeyPackage, reason: error.loadReason, at: timeline.now)
            for member in members { monitor.failJoin(member, of: group, reason: error.loadReason) }
            return []
        }
    }

    /// Adds invited members by an admin for which the monitor has noted a commit; they join later or are abandoned.
    ///
    /// - Parameter done: called once, when a relay has accepted the commit or it has failed.
    func add(
        _ members: [Int], to number: Int, _ chatID: ChatID, by admin: Int, done: @escaping @Sendable () -> Void
    ) {
        monitor.beginAddition(of: members, to: number)
        let action = AppAction.addGroupMembers(chatID: chatID, peers: keys(of: members), missing: .proceedWithout)
        agents[admin].dispatch(action) { result in
            do {
                _ = try self.addedTo(try result.get(), members, group: number)
                self.monitor.commitEnded(admin, to: number, failure: nil)
            } catch {
                self.monitor.commitEnded(admin, to: number, failure: error)
                // An admin that was ended meanwhile adds them in its next run.
                if (error as? AgentNotRunning)?.isStored != true {
                    for member in members { self.monitor.failJoin(member, of: number, reason: error.loadReason) }
                }
            }
            done()
        }
    }

    /// Records which members were added and which were left out; returns the chat id.
    private func addedTo(_ outcome: ActionOutcome, _ members: [Int], group: Int) throws -> ChatID {
        switch outcome {
        case .done(let chatID?):
            monitor.reached(.added, members, of: group)
            return chatID
        case .partlyDone(let chatID, let left):
            let leftOut = members.filter { left[agents[$0].key.publicKey] != nil }
            for member in leftOut {
                let reason = left[agents[member].key.publicKey]
                if case .welcomeRefused = reason { monitor.reached(.added, [member], of: group) }
                monitor.failJoin(member, of: group, reason: reason?.loadReason ?? "left out")
            }
            monitor.reached(.added, members.filter { !leftOut.contains($0) }, of: group)
            return chatID
        default: throw AppCoreError(.unknownChat, "the action ended without a chat id")
        }
    }

    func keys(of members: [Int]) -> [PublicKey] { members.map { agents[$0].key.publicKey } }

    /// Waits until a condition holds, at most for `limit`. Polls fifty times per second: a wake-up for each of
    /// thousands of events would take CPU time from the agents.
    func until(within limit: Duration, _ holds: () -> Bool) async {
        let end = ContinuousClock.now + limit
        while !holds(), ContinuousClock.now < end {
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
        }
    }
}

extension InviteFailure {
    fileprivate var loadReason: String {
        switch self {
        case .keyPackage: "no usable key package"
        case .welcomeRefused: "welcome refused by every relay"
        }
    }
}
