public import BotDispatch
public import BotKit
import PikaCore
import Synchronization

/// A program in the place of a bot: one handler, which hands every event that is for it to the program's daemon.
///
/// The handler is done when the event is recorded. The program takes it later, in its own time: neither the other bots
/// of the account nor the other chats wait for it, and nothing is lost while it is away. Only when there is no room left
/// in the record do they wait.
public struct ExternalBot: Bot, SelfTimingBot {
    public static let name = "external"

    /// The bot's name in its account.
    public let label: String
    public let program: ExternalBotProgram
    private let currentPolicy: PolicyBox
    /// As of now: all copies of this bot have the same.
    public var policy: BotPolicy {
        get { currentPolicy.value.withLock { $0 } }
        nonmutating set { currentPolicy.value.withLock { $0 = newValue } }
    }
    let intake = EventIntake()
    let calls = ProgramCalls()
    let turns = ChatTurns()
    let board = ProgramBoard()

    public init(label: String, program: ExternalBotProgram, policy: BotPolicy = BotPolicy()) {
        self.label = label
        self.program = program
        self.currentPolicy = PolicyBox(policy)
    }

    /// Throws ``ExternalBotError/Code/notIncluded``: a program is named by `command:`.
    public init(settings: BotSettings) throws {
        throw ExternalBotError(.notIncluded, "a program is a bot by `command: […]`, not by `use:`")
    }

    @HandlerBuilder public var handlers: [Handler] {
        Handler(label: "program") { event, scope in
            // What the dispatcher lets through without asking where: joins and commits.
            guard scope.chat.map({ isAtWork(in: $0, of: scope.snapshot) }) ?? isAtWorkElsewhere(event.chatID) else {
                return nil
            }
            return { _ in
                turns.heard(event)
                if case .call(let call) = event.content { calls.own(call.signal.callID) }
                try await intake.take(event)
            }
        }
    }

    /// The program has its own.
    public var help: BotHelp { .off }

    /// Whether the program is at work in a chat; in a chat of two it always is.
    func isAtWork(in chat: AppState.ChatSummary, of state: AppState) -> Bool {
        !chat.isGroup || policy.groups.scope(of: chat.chatID, chat, in: state) != .none
    }

    /// The same for a chat that the state does not show: it counts as a group.
    private func isAtWorkElsewhere(_ chatID: String) -> Bool {
        policy.groups.scope(of: chatID, nil, in: AppState()) != .none
    }
}

/// What a reload changes for the dispatcher, the gate and what the program sees alike.
private final class PolicyBox: Sendable {
    let value: Mutex<BotPolicy>

    init(_ policy: BotPolicy) { value = Mutex(policy) }
}
