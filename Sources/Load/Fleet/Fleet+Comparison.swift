import LoadReport
import Nostr
import PikaCore

/// A member's view of its group.
struct GroupView: Hashable, Sendable {
    var epoch: UInt64
    var name: String
    var members: Set<String>

    /// Returns, for each member of one group, whether its view differs from the most common one. Nil is the view of a
    /// member without the group; it always differs.
    static func diverged(_ views: [GroupView?]) -> [Bool] {
        let tally = Dictionary(grouping: views.compactMap(\.self)) { $0 }.mapValues(\.count)
        let common = tally.max { ($0.value, $0.key.epoch) < ($1.value, $1.key.epoch) }?.key
        return views.map { $0 == nil || $0 != common }
    }
}

extension Fleet {
    /// Compares every member's view of its group with the majority's: epoch, name and members.
    ///
    /// A commit may still be in flight, such as that of a member who left. So the comparison is repeated until all
    /// agree or until `end`; only the last one is recorded. Records nothing if the test is cancelled, because the
    /// agents are then shutting down.
    func compareGroups(until end: ContinuousClock.Instant) async {
        var diverged = await divergedMembers()
        while diverged.contains(true), ContinuousClock.now < end {
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
            diverged = await divergedMembers()
        }
        guard !Task.isCancelled else { return }
        for isDiverged in diverged { recorder.compared(diverged: isDiverged) }
    }

    /// Checks the members of all groups, one after the other.
    private func divergedMembers() async -> [Bool] {
        var diverged: [Bool] = []
        for number in createdGroups { diverged += GroupView.diverged(await views(of: number)) }
        return diverged
    }

    private func views(of number: Int) async -> [GroupView?] {
        guard let chatID = chat(of: number), let ledger = monitor.group(number) else { return [] }
        var views: [GroupView?] = []
        for member in ledger.members { views.append(await view(of: member, chatID)) }
        return views
    }

    /// Returns nil for an agent that is not running or lacks the group.
    private func view(of member: Int, _ chatID: ChatID) async -> GroupView? {
        guard let core = agents[member].core,
            let chat = await core.state.chatList.first(where: { $0.chatID == chatID }), chat.isActive
        else { return nil }
        return GroupView(epoch: chat.epoch, name: chat.name, members: Set(chat.allMembers.map(\.publicKey.hex)))
    }
}
