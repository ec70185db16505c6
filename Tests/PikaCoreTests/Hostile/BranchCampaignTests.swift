import BotTesting
import Foundation
import MLS
import Nostr
import Testing

@testable import Marmot
@testable import PikaCore

/// The hostile campaign in a group of the second generation: forged witnesses, two devices of one account, withheld and
/// deep branches, branches by removed members, rivals of every commit, junk and floods. The honest members agree, show
/// every message once, make the changes of their admins, and stay within ``BranchBounds``.
@Suite struct BranchCampaignTests {
    private static let operations = 50

    @Test(arguments: CampaignSeeds.requested(orFirst: 1))
    func honestMembersAgreeOnBranch(seed: UInt64) async throws {
        let run = try await BranchCampaign(seed: seed)
        do {
            try await run.run(operations: Self.operations)
            try await run.finish()
            let faults = try await BranchCampaignVerdict(run).faults
            if ProcessInfo.processInfo.environment["SHOW_REASONS"] != nil {
                let peaks = run.ledger.peaks.sorted { $0.key < $1.key }.map { "\($0.key) \(Int($0.value * 100)) %" }
                print("seed \(seed): \(peaks.joined(separator: ", "))\n\(run.trace.joined(separator: "; "))")
            }
            if !faults.isEmpty {
                Issue.record(
                    "seed \(seed): \(faults.prefix(12).joined(separator: "\n"))\n\(run.trace.joined(separator: "; "))")
            }
        } catch {
            Issue.record("seed \(seed): \(error)\n\(run.trace.joined(separator: "; "))")
        }
    }
}

/// Invariants after the attacks.
struct BranchCampaignVerdict {
    private let run: BranchCampaign
    private(set) var faults: [String] = []

    init(_ run: BranchCampaign) async throws {
        self.run = run
        guard let reference = try await run.honest[0].secondGroup(of: run.chat) else {
            self.faults.append("\(run.honest[0].name) has lost the group")
            return
        }
        for member in run.honest { try await self.judgeState(of: member, reference.tip) }
        for adversary in run.adversaries where reference.tip.members.contains(adversary) {
            self.faults.append("a removed adversary is a member")
        }
        for sender in run.honest { try await self.judgeMessages(of: sender, reference.tip) }
        for member in run.honest { self.judgeDeliveries(to: member) }
        for (member, request) in run.changes where member.outcome(of: request) == nil {
            self.faults.append("a change by \(member.name) was neither made nor refused")
        }
        self.faults += run.ledger.violations
    }

    private mutating func judgeState(of member: LabMember, _ reference: ComponentGroup) async throws {
        guard let group = try await member.secondGroup(of: self.run.chat), group.isActive else {
            return self.faults.append("\(member.name) is outside")
        }
        if group.convergence.status != .settled {
            self.faults.append("\(member.name) is \(group.convergence.status)")
        }
        if group.tip.mls.epochAuthenticator != reference.mls.epochAuthenticator
            || group.tip.mls.encodedRatchetTree != reference.mls.encodedRatchetTree
        {
            self.faults.append(
                "\(member.name) is in epoch \(group.tip.epoch), \(self.run.honest[0].name) in \(reference.epoch)")
        }
    }

    /// Every message that its sender shows is shown once by the others.
    private mutating func judgeMessages(of sender: LabMember, _ tip: ComponentGroup) async throws {
        let shown = try await sender.store.messages(in: tip.groupID, before: nil, limit: .max)
        for message in shown where message.isOwn && message.rumor.kind == .chatMessage {
            for receiver in self.run.honest where receiver !== sender {
                let times = receiver.visibleCount(of: message.id, in: self.run.chat)
                // It was read after more than five commits, which only adversaries make so quickly, so its keys were
                // deleted.
                let isTooLate = message.epoch.later(by: ConvergencePolicy.standard.maximumRewind) < tip.epoch
                if times == 1 || (times == 0 && isTooLate) { continue }
                self.faults.append("\(receiver.name) shows \(message.rumor.content) of \(sender.name) \(times) times")
            }
        }
    }

    /// Honest accounts sent all texts that carry their names, and the adversaries only theirs.
    private mutating func judgeDeliveries(to member: LabMember) {
        let honest = Set(self.run.honest.map(\.publicKey))
        for event in member.events where event.chatID == self.run.chat {
            guard case .message(let message) = event.content, message.kind == .chatMessage else { continue }
            let isGenuine =
                honest.contains(message.sender)
                ? self.run.sent[message.content] == message.sender : message.content.hasPrefix("junk")
            if !isGenuine {
                self.faults.append("\(member.name) received \(message.content.prefix(80)) from a wrong sender")
            }
        }
    }
}
