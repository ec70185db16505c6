import BotTesting
import Nostr
import PikaCore

/// The printed report of a failed run.
extension RandomRun {
    /// The operations, and each member's view of a chat.
    func story(of chat: ChatID) -> String {
        let views = self.members.map { member in
            "\(member.name): " + member.events.filter { $0.chatID == chat }.map(self.line).joined(separator: " ")
        }
        return "\n" + ([self.trace.joined(separator: "; ")] + views).joined(separator: "\n")
    }

    private func line(_ event: CoreEvent) -> String {
        switch event.content {
        case .commit(let commit):
            let who = commit.isOwn ? "own" : self.name(commit.committer)
            let undone = commit.rolledBack ? " rolled back" : ""
            let changes = commit.added.map { "+\(self.name($0))" } + commit.removed.map { "-\(self.name($0))" }
            return
                "[\(commit.epochBefore)>\(commit.epochAfter) \(who)\(undone) \(changes.joined()) \(commit.id.hex.prefix(4))]"
        case .joined(let join): return "[joined \(join.epoch)]"
        case .message(let message): return "\(message.content)@\(message.epoch)"
        case .proposal(let proposal): return "[proposal of \(self.name(proposal.sender))]"
        case .call: return "[call]"
        case .feed: return "[feed]"
        case .withdrawn(let message): return message.isRestored ? "[restored]" : "[withdrawn]"
        case .outcome(let outcome): return "[\(outcome.kind) \(outcome.result.name)]"
        }
    }

    private func name(_ key: PublicKey) -> String { self.members.first { $0.publicKey == key }?.name ?? "?" }
}
