import Nostr

extension Fleet {
    /// Runs all activities of a stage concurrently until its end.
    func perform(_ stage: LoadPlan.Stage) async {
        let end = timeline.now + stage.length
        await withDiscardingTaskGroup { group in
            if let rate = stage.sendRate {
                group.addTask { await self.send(at: rate, until: end, bytes: stage.messageBytes) }
            }
            if let users = stage.users {
                group.addTask { await self.converse(users, until: end, bytes: stage.messageBytes) }
            }
            if let rate = stage.churn { group.addTask { await self.churn(at: rate, until: end) } }
            if let rate = stage.commitRate { group.addTask { await self.commit(at: rate, until: end) } }
            if let storm = stage.storm { group.addTask { await self.storm(storm, until: end) } }
            do { try await ContinuousClock().sleep(until: timeline.instant(end)) } catch { return }
        }
    }

    /// Waits until nothing is in flight and all members agree, at most for the plan's settle time.
    func settle() async {
        let end = ContinuousClock.now + plan.settle
        await until(within: plan.settle) {
            self.monitor.outstanding == 0 && self.monitor.pendingJoins == 0 && self.monitor.pendingCommits == 0
                && self.monitor.pendingSends == 0
        }
        if !Task.isCancelled { monitor.giveUpJoins() }
        await compareGroups(until: end)
        if !Task.isCancelled { monitor.giveUpSends() }
    }
}

extension LoadPlan.Stage {
    /// Description of the stage's activities.
    var title: String {
        let parts = [
            sendRate.map { "send \($0.text)" }, users.map { "\($0.count) users" }, churn.map { "churn \($0.text)" },
            commitRate.map { "commit \($0.text)" }, storm.map { "storms of \($0.members)" },
        ].compactMap(\.self)
        return parts.isEmpty ? "idle" : parts.joined(separator: ", ")
    }
}

extension PerSecond {
    var text: String {
        if value >= 1 { return "\(Self.short(value))/s" }
        return value * 60 >= 1 ? "\(Self.short(value * 60))/min" : "\(Self.short(value * 3600))/h"
    }

    private static func short(_ number: Double) -> String {
        let rounded = (number * 100).rounded() / 100
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}
