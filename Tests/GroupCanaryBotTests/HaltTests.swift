import BotKit
import Testing

@testable import GroupCanaryBot
@testable import PikaCore

struct HaltTests {
    private func chat(
        isActive: Bool, needsInvitation: Bool = false, _ convergence: ChatConvergence? = nil
    ) -> AppState.ChatSummary {
        var chat = AppState.ChatSummary(
            chatID: "c1", routingIDs: [], name: "canary", description: "", relays: [], isGroup: true, members: [],
            isAdmin: false, epoch: 3, isActive: isActive, lastMessage: nil, lastMessageAt: nil, unreadCount: 0)
        chat.needsInvitation = needsInvitation
        chat.convergence = convergence
        return chat
    }

    @Test func haltedGroupsAreNotCreatedAgain() {
        let halted = chat(isActive: false, needsInvitation: true, .unrecoverable(reason: "missing state"))
        #expect(halted.isWatched && halted.halt == "unrecoverable: missing state")
        let blocked = chat(isActive: true, .blocked(reason: "budget"))
        #expect(blocked.isWatched && blocked.halt == "blocked: budget")
    }

    @Test func endedGroupsAreNotWatched() {
        #expect(!chat(isActive: false).isWatched)
        #expect(!chat(isActive: false, .disbanded).isWatched)
        #expect(!chat(isActive: true, needsInvitation: true).isWatched)
        #expect(chat(isActive: true, .syncing).isWatched && chat(isActive: true).isWatched)
    }
}
