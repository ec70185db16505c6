import BotTesting
import MLS
import Nostr

@testable import Marmot
@testable import PikaCore

/// Comparison of the members of a group of the second generation after a random run; lists the differences.
struct SettlementVerdict {
    private let run: RandomRun
    private let chat: ChatID
    private(set) var faults: [String] = []

    init(_ run: RandomRun, in chat: ChatID) async throws {
        self.run = run
        self.chat = chat
        let founder = run.founder(of: chat)
        guard let reference = try await founder.secondGroup(of: chat) else {
            self.faults.append("\(founder.name) must have the group")
            return
        }
        for member in run.members { try await self.compare(member, with: reference) }
        let history = MembershipHistory(of: founder, in: chat, founded: run.founded[chat] ?? [])
        for sender in run.members { try await self.checkMessages(of: sender, reference.tip, history) }
        for receiver in run.members { try await self.checkReports(to: receiver, reference.tip.groupID) }
    }

    private mutating func fail(_ text: String) { self.faults.append(text) }

    /// The member must be in the same state as the founder, or out if the founder's state lacks it.
    private mutating func compare(_ member: LabMember, with reference: ConvergingGroup) async throws {
        let group = try await member.secondGroup(of: self.chat)
        let tip = reference.tip
        guard tip.members.contains(member.publicKey) else {
            if let group, group.isActive, try await self.isBlind(group) == false {
                self.fail("\(member.name) must not be in the group, epoch \(group.tip.epoch)")
            }
            return
        }
        guard let group, group.isActive else {
            let status = group.map { "\($0.convergence.status)" } ?? "no group"
            return self.fail("\(member.name) must be in the group, as the others state: \(status)")
        }
        if group.convergence.status != .settled { self.fail("\(member.name): \(group.convergence.status)") }
        if group.tip.mls.epochAuthenticator != tip.mls.epochAuthenticator
            || group.tip.mls.encodedRatchetTree != tip.mls.encodedRatchetTree
        {
            if self.isBeyondReach(member, group) { return }
            self.fail("\(member.name) is in epoch \(group.tip.epoch), the founder in \(tip.epoch)")
        }
    }

    /// Whether the member can no longer reach the founder's branch: it was offline until its own commits were further
    /// from the fork than a rewind reaches. The protocol drops such a branch, and MDK does the same.
    private func isBeyondReach(_ member: LabMember, _ group: ConvergingGroup) -> Bool {
        guard let fork = self.fork(of: member) else { return false }
        let oldest = Epoch(rawValue: fork.epochBefore).later(by: ConvergencePolicy.standard.maximumRewind)
        return oldest < group.tip.epoch
    }

    private func isStranded(_ member: LabMember, _ tip: ComponentGroup) async throws -> Bool {
        guard let group = try await member.secondGroup(of: self.chat), group.isActive else { return false }
        return group.tip.mls.epochAuthenticator != tip.mls.epochAuthenticator && self.isBeyondReach(member, group)
    }

    /// Returns the founder's first commit that the member has replaced by another one.
    private func fork(of member: LabMember) -> CommitEvent? {
        let own = Dictionary(grouping: member.survivingCommits(in: self.chat), by: \.epochBefore)
        return self.run.founder(of: self.chat).survivingCommits(in: self.chat).first { commit in
            own[commit.epochBefore].map { $0[0].id != commit.id } ?? false
        }
    }

    /// Whether nobody in this state of the group can see that it lost: a newcomer knows only the branch that added it,
    /// and a member that the winning branch removes cannot read how far that branch has got.
    private func isBlind(_ group: ConvergingGroup) async throws -> Bool {
        for member in self.run.members {
            guard let other = try await member.secondGroup(of: self.chat), other.isActive,
                other.tip.mls.epochAuthenticator == group.tip.mls.epochAuthenticator
            else { continue }
            let isRemoved = self.fork(of: member)?.removed.contains(member.publicKey) ?? false
            if !isRemoved && !self.wasAddedByLostCommit(member) { return false }
        }
        return true
    }

    private func wasAddedByLostCommit(_ member: LabMember) -> Bool {
        let joins = member.events.filter { $0.chatID == self.chat }.compactMap { event -> UInt64? in
            if case .joined(let join) = event.content { join.epoch } else { nil }
        }
        guard let epoch = joins.last else { return false }
        return !self.run.founder(of: self.chat).survivingCommits(in: self.chat).contains {
            $0.epochAfter == epoch && $0.added.contains(member.publicKey)
        }
    }

    /// Every message that its sender shows, and has not reported as lost, must be shown once by every member of its epoch.
    private mutating func checkMessages(
        of sender: LabMember, _ tip: ComponentGroup, _ history: MembershipHistory
    ) async throws {
        let shown = try await sender.store.messages(in: tip.groupID, before: nil, limit: .max)
        let lost = try await Self.lostMessages(of: sender)
        for message in shown
        where message.isOwn && message.rumor.kind == .chatMessage && !lost.contains(message.id) {
            guard let members = history.members(at: message.epoch), members.contains(sender.publicKey) else { continue }
            for receiver in self.run.members where receiver !== sender && members.contains(receiver.publicKey) {
                if try await self.isStranded(receiver, tip) { continue }
                let times = receiver.visibleCount(of: message.id, in: self.chat)
                // A member that could not reach a relay for more than five epochs has deleted the keys.
                let isTooLate = message.epoch.later(by: ConvergencePolicy.standard.maximumRewind) < tip.epoch
                if times == 1 || (times == 0 && isTooLate) { continue }
                self.fail("\(receiver.name) shows \(message.rumor.content) of \(sender.name) \(times) times")
            }
        }
    }

    /// Returns the messages of which the account knows that they left the history with their branch for good.
    private static func lostMessages(of sender: LabMember) async throws -> Set<EventID> {
        let memos = try await sender.store.load().memos.filter { $0.key.kind == .failedMessage }
        let failed = memos.values.compactMap { FailedMessage(memo: $0) }
        return Set(failed.filter { ResendRefusal.isReason($0.reason) }.map(\.id))
    }

    /// The handlers must know exactly the messages of the history: withdrawn ones must have been reported.
    private mutating func checkReports(to receiver: LabMember, _ groupID: GroupID) async throws {
        let shown = Set(try await receiver.store.messages(in: groupID, before: nil, limit: .max).map(\.id))
        for message in receiver.store.allMessages
        where message.groupID == groupID && !message.isOwn && message.rumor.kind == .chatMessage {
            let (times, expected) = (receiver.visibleCount(of: message.id, in: self.chat), shown.contains(message.id))
            if times != (expected ? 1 : 0) {
                let state = expected ? "shown" : "withdrawn"
                self.fail("\(receiver.name) counts \(times) of \(message.rumor.content), which is \(state)")
            }
        }
    }
}
