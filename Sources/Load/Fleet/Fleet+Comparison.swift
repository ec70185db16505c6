import LoadReport
import Nostr
import PikaCore

extension Fleet {
    /// Holds what every member knows of its group against what most of them know: epoch, name and members.
    func compareGroups() async {
        for number in foundedGroups {
            guard let chatID = chat(of: number), let ledger = board.group(number) else { continue }
            var views: [View] = []
            for member in ledger.members { views.append(await view(of: member, chatID)) }
            let tally = Dictionary(grouping: views) { $0 }.mapValues(\.count)
            guard let common = tally.max(by: { ($0.value, $0.key.epoch) < ($1.value, $1.key.epoch) })?.key else {
                continue
            }
            for view in views { recorder.compared(diverged: view != common) }
        }
    }

    private struct View: Hashable {
        var epoch: UInt64 = 0
        var name = ""
        var members: Set<String> = []
    }

    /// Nothing of an agent that does not run or knows no such group.
    private func view(of member: Int, _ chatID: String) async -> View {
        guard let core = agents[member].core,
            let chat = await core.state.chatList.first(where: { $0.chatID == chatID }), chat.isActive
        else { return View() }
        return View(epoch: chat.epoch, name: chat.name, members: Set(chat.members.map(\.publicKey.hex)))
    }

    /// Whether everybody knows the same by now.
    func isAgreed() async -> Bool {
        for number in foundedGroups {
            guard let chatID = chat(of: number), let ledger = board.group(number) else { continue }
            var views: Set<View> = []
            for member in ledger.members { views.insert(await view(of: member, chatID)) }
            if views.count > 1 { return false }
        }
        return true
    }
}
