import BotTesting
import MLS
import Nostr

@testable import Marmot
@testable import PikaCore

/// Groups of the second generation as a member has stored them.
extension LabMember {
    /// The groups in its store, read back as after a restart.
    func storedSecondGroups() async throws -> [ConvergingGroup] {
        let model = try CoreModel(
            account: .remote(self.publicKey), configuration: CoreConfiguration(relays: []),
            stored: try await self.store.load())
        return model.groups.values.compactMap { if case .second(let group) = $0 { group } else { nil } }
    }

    /// A chat's group; nil if this member never had it.
    func secondGroup(of chatID: ChatID) async throws -> ConvergingGroup? {
        try await self.storedSecondGroups().first { ChatID($0.tip.groupID) == chatID }
    }

    /// The number of times that the handlers have a message, after withdrawals and restorations. Redeliveries after a
    /// crash do not count.
    func visibleCount(of id: EventID, in chatID: ChatID) -> Int {
        var (ids, count): (Set<Int64>, Int) = ([], 0)
        for event in self.events where event.chatID == chatID && ids.insert(event.inboxID).inserted {
            switch event.content {
            case .message(let message) where message.id == id: count += 1
            case .withdrawn(let withdrawn) where withdrawn.id == id: count += withdrawn.isRestored ? 1 : -1
            default: break
            }
        }
        return count
    }

    /// Other members' chat messages in a chat that are part of its history, in the order of their arrival.
    ///
    /// - Parameter start: the number of recorded events to skip.
    func visibleTexts(in chatID: ChatID, since start: Int = 0) -> [String] {
        var ids: Set<Int64> = []
        var messages: [(id: EventID, text: String)] = []
        for event in self.events.dropFirst(start) where event.chatID == chatID && ids.insert(event.inboxID).inserted {
            switch event.content {
            case .message(let message) where message.kind == .chatMessage:
                messages.append((message.id, message.content))
            case .withdrawn(let withdrawn) where !withdrawn.isRestored:
                messages.removeAll { $0.id == withdrawn.id }
            case .withdrawn(let withdrawn):
                // A restored message has been delivered before.
                if let text = self.text(of: withdrawn.id) { messages.append((withdrawn.id, text)) }
            default: break
            }
        }
        return messages.map(\.text)
    }

    private func text(of id: EventID) -> String? {
        for event in self.events {
            if case .message(let message) = event.content, message.id == id, message.kind == .chatMessage {
                return message.content
            }
        }
        return nil
    }
}
