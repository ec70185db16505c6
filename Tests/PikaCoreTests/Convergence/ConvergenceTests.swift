import BotTesting
import Foundation
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Convergence under faults: when the faults end, all members of a group have the same state, and every message of a
/// surviving epoch has reached every member of that epoch once.
@Suite struct ConvergenceTests {
    /// Each of these seeds has revealed a bug.
    private static let known: Set<UInt64> = [9, 17, 56, 93, 106, 127, 282, 337, 351, 362, 562, 684, 738, 1264, 1619]

    @Test(arguments: CampaignSeeds.requested(orFirst: 2, known: Self.known))
    func membersConvergeAfterFaults(seed: UInt64) async throws {
        let run = try await RandomRun(seed: seed)
        do {
            try await run.run(operations: 60)
            try await run.finish()
            for chat in run.chats { try await self.check(chat, run) }
        } catch {
            Issue.record("seed \(seed): \(error)\n\(run.trace.joined(separator: "; "))")
        }
    }

    private func check(_ chat: ChatID, _ run: RandomRun) async throws {
        var isReported = false
        func fail(_ text: String) {
            Issue.record("seed \(run.lab.seed): \(text)\(isReported ? "" : run.story(of: chat))")
            isReported = true
        }
        let founder = run.founder(of: chat)
        guard let reference = try await founder.storedGroups().first(where: { ChatID($0.groupID) == chat }) else {
            return fail("\(founder.name) must have the group")
        }
        let expected = Set(reference.members)
        for member in run.members {
            let group = try await member.storedGroups().first { $0.groupID == reference.groupID && $0.isActive }
            guard expected.contains(member.publicKey) else {
                // A newcomer is alone if the commit that added it lost a race and the committer then lost its admin
                // role: no other member is in that state of the group, and the protocol cannot detect it.
                if let group, try await run.isShared(group) {
                    fail("\(member.name) must not be in \(chat.rawValue.prefix(4)), epoch \(group.epoch)")
                }
                continue
            }
            guard let group else {
                fail("\(member.name) must be in \(chat.rawValue.prefix(4)), as the others state")
                continue
            }
            if group.mls.epochAuthenticator != reference.mls.epochAuthenticator
                || group.mls.encodedRatchetTree != reference.mls.encodedRatchetTree
            {
                fail("\(member.name) is in epoch \(group.epoch), \(founder.name) in \(reference.epoch)")
            }
        }
        let history = MembershipHistory(of: founder, in: chat, founded: run.founded[chat] ?? [])
        for sender in run.members {
            for message in sender.store.allMessages
            where message.isOwn && message.groupID == reference.groupID && message.rumor.kind == .chatMessage {
                guard let members = history.members(at: message.epoch), members.contains(sender.publicKey) else {
                    continue
                }
                for receiver in run.members where receiver !== sender && members.contains(receiver.publicKey) {
                    let times = receiver.deliveryCount(of: message.id, in: chat)
                    if times == 1 { continue }
                    if times == 0, try await receiver.hasTooLate(message, now: reference.epoch) { continue }
                    fail("\(receiver.name) received \(message.rumor.content) of \(sender.name) \(times) times")
                }
            }
        }
    }
}

extension RandomRun {
    /// Whether two members are in this state of a group.
    fileprivate func isShared(_ group: MarmotGroup) async throws -> Bool {
        var count = 0
        for member in self.members {
            count += try await member.storedGroups().filter {
                $0.isActive && $0.mls.epochAuthenticator == group.mls.epochAuthenticator
            }.count
        }
        return count > 1
    }
}

/// The members in each epoch of the surviving branch, by the commits that one continuous member saw.
struct MembershipHistory {
    private var epochs: [Epoch: Set<PublicKey>] = [:]

    /// - Parameter founded: the members of the group at its founding, at epoch 1.
    init(of member: LabMember, in chat: ChatID, founded: Set<PublicKey>) {
        self.epochs[1] = founded
        for commit in member.survivingCommits(in: chat) {
            let before = self.epochs[Epoch(rawValue: commit.epochBefore)] ?? []
            self.epochs[Epoch(rawValue: commit.epochAfter)] = before.union(commit.added).subtracting(commit.removed)
        }
    }

    func members(at epoch: Epoch) -> Set<PublicKey>? { self.epochs[epoch] }
}

extension LabMember {
    /// The groups in its store, read back as after a restart.
    func storedGroups() async throws -> [MarmotGroup] {
        try await self.store.load().groups.compactMap { stored in
            guard let key = StoredGroupKey(stored: stored.key), key.part == nil else { return nil }
            return try MarmotGroup(header: stored.header, records: stored.records, account: self.publicKey)
        }
    }

    /// Whether a message arrived after its keys were deleted: this member could not reach one relay for more than five
    /// epochs, while commits arrived over the other.
    func hasTooLate(_ message: StoredMessage, now epoch: Epoch) async throws -> Bool {
        let oldest = message.epoch.later(by: MarmotProfile.mip.pastEpochs)
        guard oldest < epoch else { return false }
        if try await self.store.load().waiting.contains(where: { $0.event.id == message.wrapper }) { return true }
        // This member was removed long afterwards.
        return try await self.storedGroups().contains {
            $0.groupID == message.groupID && !$0.isActive && oldest < $0.epoch
        }
    }

    /// Returns the commits of this member's branch since it joined, in order of their epochs.
    func survivingCommits(in chat: ChatID) -> [CommitEvent] {
        var commits: [CommitEvent] = []
        var ids: Set<Int64> = []
        for event in self.events where event.chatID == chat && ids.insert(event.inboxID).inserted {
            guard case .commit(let commit) = event.content else { continue }
            // A commit that replaces another one removes all later epochs.
            commits.removeAll { $0.epochBefore >= commit.epochBefore }
            commits.append(commit)
        }
        return commits
    }

    /// Returns the number of times that the handlers received a message; a redelivery after a crash does not count.
    func deliveryCount(of id: EventID, in chat: ChatID) -> Int {
        var ids: Set<Int64> = []
        for event in self.events where event.chatID == chat {
            if case .message(let message) = event.content, message.id == id { ids.insert(event.inboxID) }
        }
        return ids.count
    }
}
