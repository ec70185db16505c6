import BotTesting
import Nostr
import PikaCore

/// The printed report of a failed run.
extension HostileRun {
    /// The operations, and each honest member's view of the groups.
    var story: String {
        let views = self.honest.flatMap { member in
            [self.attacked, self.quiet].map { chat in
                "\(member.name) \(chat == self.quiet ? "quiet" : "attacked"): "
                    + member.events.filter { $0.chatID == chat }.map(self.line).joined(separator: " ")
            }
        }
        return ([self.trace.joined(separator: "; ")] + views).joined(separator: "\n")
    }

    /// The operations, the used share of each bound, and the losses.
    func summary(_ verdict: CampaignVerdict) -> String {
        let peaks = self.ledger.peaks.sorted { $0.key < $1.key }.map { "\($0.key) \(Int($0.value * 100)) %" }
        let rollbacks = self.honest.flatMap(\.commits).count(where: \.rolledBack)
        return "seed \(self.lab.seed): \(rollbacks) rollbacks, \(peaks.joined(separator: ", "))\n"
            + (verdict.losses.map { "lost: \($0)" } + [self.trace.joined(separator: "; ")]).joined(separator: "\n")
    }

    private func line(_ event: CoreEvent) -> String {
        switch event.content {
        case .commit(let commit):
            let undone = commit.rolledBack ? " rolled back" : ""
            let changes = commit.added.map { " +\(self.name($0))" } + commit.removed.map { " -\(self.name($0))" }
            return
                "[\(commit.epochBefore)>\(commit.epochAfter) \(self.name(commit.committer))\(undone)\(changes.joined()) \(commit.id.hex.prefix(4))]"
        case .joined(let join): return "[joined \(join.epoch)]"
        case .message(let message): return "\(message.content.suffix(12))@\(message.epoch)"
        case .proposal(let proposal): return "[proposal of \(self.name(proposal.sender))]"
        case .call: return "[call]"
        case .feed: return "[feed]"
        case .withdrawn(let message): return message.isRestored ? "[restored]" : "[withdrawn]"
        case .outcome(let outcome): return "[\(outcome.kind) \(outcome.result.name)]"
        }
    }

    func name(_ key: PublicKey) -> String {
        if key == self.member.keys.publicKey { return self.member.name }
        if key == self.admin.keys.publicKey { return self.admin.name }
        return self.honest.first { $0.publicKey == key }?.name ?? "?"
    }
}
