package import BotDispatch
package import BotKit
import PikaCore
import Synchronization

/// A bot that is an external program: one handler, which hands every event for the program to its daemon.
///
/// The handler is done when the event is recorded. The program fetches it later, at its own pace: neither the account's
/// other bots nor the other chats wait for it, and nothing is lost while it is not running. They wait only when the
/// record is full.
package struct ExternalBot: Bot, SelfTimingBot {
    package static let name = "external"

    /// The bot's name in its account.
    package let label: String
    package let program: ExternalBotProgram
    private let currentPolicy: PolicyBox
    /// The current policy, shared by all copies of this bot.
    package var policy: BotPolicy {
        get { currentPolicy.value.withLock { $0 } }
        nonmutating set { currentPolicy.value.withLock { $0 = newValue } }
    }
    let intake = EventIntake()
    let calls = ProgramCalls()
    let answerTracker = AnswerTracker()
    let monitor = ProgramMonitor()

    package init(label: String, program: ExternalBotProgram, policy: BotPolicy = BotPolicy()) {
        self.label = label
        self.program = program
        self.currentPolicy = PolicyBox(policy)
    }

    /// Throws `ExternalBotError.Code.notIncluded`: programs are configured by `command:`.
    package init(settings: BotSettings) throws {
        throw ExternalBotError(.notIncluded, "an external bot needs `command: […]` instead of `use:`")
    }

    @HandlerBuilder package var handlers: [Handler] {
        Handler(label: "program") { event, scope in
            // Items of feeds belong to no chat.
            if case .feed = event.content { return { _ in try await intake.deliver(event) } }
            // The account may have left the chat.
            if case .outcome = event.content { return { _ in try await intake.deliver(event) } }
            // The dispatcher passes joins and commits without checking the chat.
            guard scope.chat.map({ isActive(in: $0, of: scope.snapshot) }) ?? isActiveInUnknownChat(event.chatID) else {
                return nil
            }
            return { _ in
                answerTracker.received(event)
                if case .call(let call) = event.content { calls.add(call.signal.callID) }
                try await intake.deliver(event)
            }
        }
    }

    /// Off, because the program has its own help.
    package var help: BotHelp { .off }

    /// Returns whether the program is active in a chat; in a direct chat it always is.
    func isActive(in chat: AppState.ChatSummary, of state: AppState) -> Bool {
        !chat.isGroup || policy.groups.scope(of: chat.chatID, chat, in: state) != .none
    }

    /// Returns the same for a chat that is missing in the state: it counts as a group.
    private func isActiveInUnknownChat(_ chatID: ChatID) -> Bool {
        policy.groups.scope(of: chatID, nil, in: AppState()) != .none
    }
}

/// The policy, which a reload changes for the dispatcher, the gate and the program's view alike.
private final class PolicyBox: Sendable {
    let value: Mutex<BotPolicy>

    init(_ policy: BotPolicy) { value = Mutex(policy) }
}
