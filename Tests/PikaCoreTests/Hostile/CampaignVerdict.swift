import BotTesting
import MLS
import Nostr

@testable import Marmot
@testable import PikaCore

/// Invariants after the attacks.
struct CampaignVerdict {
    let run: HostileRun
    private(set) var faults: [String] = []
    /// Members and messages that the protocol could not save.
    private(set) var losses: [String] = []

    init(_ run: HostileRun) async throws {
        self.run = run
        for chat in [run.attacked, run.quiet] {
            try await self.judgeState(of: chat)
            try await self.judgeMessages(of: chat)
        }
        for member in run.honest { self.judgeDeliveries(to: member) }
        self.judgeQuiet()
        self.faults += run.ledger.violations
    }

    private func reference(of chat: ChatID) -> LabMember {
        chat == self.run.quiet ? self.run.honest[1] : self.run.founder
    }

    /// Whether the hostile admin has removed a member from a group or lured it away.
    private func isHarmed(_ member: LabMember, in chat: ChatID) -> Bool {
        chat == self.run.attacked && self.run.harmed.contains(member.publicKey)
    }

    /// All members have the same state. A member that the hostile admin removed or lured away may have its own.
    private mutating func judgeState(of chat: ChatID) async throws {
        let founder = self.reference(of: chat)
        guard let reference = try await self.run.group(chat, of: founder) else {
            self.faults.append("\(founder.name) has lost \(self.name(of: chat))")
            return
        }
        for member in self.run.honestMembers(of: chat) where member !== founder {
            let group = try await self.run.group(chat, of: member)
            guard reference.members.contains(member.publicKey) else {
                self.add(
                    "\(member.name) is not a member of \(self.name(of: chat))", isLoss: self.isHarmed(member, in: chat))
                continue
            }
            let isSame =
                group?.mls.epochAuthenticator == reference.mls.epochAuthenticator
                && group?.mls.encodedRatchetTree == reference.mls.encodedRatchetTree && group?.data == reference.data
            if isSame { continue }
            let state = group.map { "in epoch \($0.epoch)" } ?? "outside"
            self.add(
                "\(member.name) is \(state) of \(self.name(of: chat)), \(founder.name) in epoch \(reference.epoch)",
                isLoss: self.isHarmed(member, in: chat))
        }
    }

    private mutating func add(_ what: String, isLoss: Bool) {
        if isLoss { self.losses.append(what) } else { self.faults.append(what) }
    }

    /// Every message of a surviving epoch has reached every honest member of that epoch once.
    private mutating func judgeMessages(of chat: ChatID) async throws {
        let founder = self.reference(of: chat)
        guard let reference = try await self.run.group(chat, of: founder) else { return }
        let honest = self.run.honestMembers(of: chat)
        let history = MembershipHistory(of: founder, in: chat, founded: Set(honest.map(\.publicKey)))
        for sender in honest {
            for message in sender.store.allMessages
            where message.isOwn && message.groupID == reference.groupID && message.rumor.kind == .chatMessage {
                guard let members = history.members(at: message.epoch), members.contains(sender.publicKey) else {
                    continue
                }
                for receiver in honest where receiver !== sender && members.contains(receiver.publicKey) {
                    let times = receiver.deliveryCount(of: message.id, in: chat)
                    if times == 1 { continue }
                    // The protocol cannot save messages that arrive after their keys were deleted, nor those from and
                    // to a member that was removed or lured away, which may have another state of the group.
                    let isTooLate = try await receiver.hasTooLate(message, now: reference.epoch)
                    let isHarmed = self.isHarmed(receiver, in: chat) || self.isHarmed(sender, in: chat)
                    self.add(
                        "\(receiver.name) received \(message.rumor.content) of \(sender.name) in epoch "
                            + "\(message.epoch) of \(self.name(of: chat)) \(times) times",
                        isLoss: times == 0 && (isTooLate || isHarmed))
                }
            }
        }
    }

    /// Messages are attributed to the group and role of their senders, and honest members sent no others.
    private mutating func judgeDeliveries(to member: LabMember) {
        let honest = Set(self.run.honest.map(\.publicKey))
        for event in member.events {
            guard case .message(let message) = event.content, message.kind == .chatMessage else { continue }
            if honest.contains(message.sender) {
                guard let sent = self.run.sent[message.content] else {
                    self.faults.append(
                        "\(member.name) received a text that was never sent: \(message.content.prefix(80))")
                    continue
                }
                if sent.chat != event.chatID || sent.sender != message.sender {
                    self.faults.append(
                        "\(member.name) received \(message.content) in a wrong group or from a wrong sender")
                }
            } else if let text = HostileText(message.content) {
                if text.chatID != event.chatID {
                    self.faults.append("\(member.name) received \(text.number) in a wrong group")
                }
                if message.role == .admin, text.role != "admin" {
                    self.faults.append("\(member.name) treats the sender of \(text.number) as an admin")
                }
            } else {
                self.faults.append("\(member.name) received an unknown text: \(message.content.prefix(80))")
            }
        }
    }

    /// The group without adversaries has seen only its own members, and no rollback storm.
    private mutating func judgeQuiet() {
        let honest = Set(self.run.honest.map(\.publicKey))
        for member in self.run.honestMembers(of: self.run.quiet) {
            for event in member.events where event.chatID == self.run.quiet {
                switch event.content {
                case .message(let message) where !honest.contains(message.sender):
                    self.faults.append("\(member.name) received a message of an outsider in the quiet group")
                case .commit(let commit) where !honest.contains(commit.committer):
                    self.faults.append("\(member.name) received a commit of an outsider in the quiet group")
                default: break
                }
            }
        }
    }

    private func name(of chat: ChatID) -> String { chat == self.run.quiet ? "the quiet group" : "the attacked group" }
}
