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
            // As in the first generation, a newcomer is alone if the commit that added it lost and is not made again.
            if let group, group.isActive, try await self.isShared(group) {
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
            self.fail("\(member.name) is in epoch \(group.tip.epoch), the founder in \(tip.epoch)")
        }
    }

    /// Whether two members are in this state of the group.
    private func isShared(_ group: ConvergingGroup) async throws -> Bool {
        var count = 0
        for member in self.run.members {
            guard let other = try await member.secondGroup(of: self.chat), other.isActive else { continue }
            if other.tip.mls.epochAuthenticator == group.tip.mls.epochAuthenticator { count += 1 }
        }
        return count > 1
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
