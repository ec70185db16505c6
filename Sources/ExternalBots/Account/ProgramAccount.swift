import BotDispatch
import CallMedia
import Daemon
import Nostr
import PikaCore

/// An account as seen by one program: the events for it, the chats in which it is active, its own calls.
struct ProgramAccount: DaemonCore {
    private let core: any DaemonCore
    private let bot: ExternalBot
    private let showsInvites: Bool
    private let noteAnswer: @Sendable (CoreEvent) -> Void

    /// - Parameter noteAnswer: called once for each message that the program replies to.
    init(_ bot: ExternalBot, of core: any DaemonCore, noteAnswer: @escaping @Sendable (CoreEvent) -> Void) {
        self.core = core
        self.noteAnswer = noteAnswer
        self.bot = bot
        showsInvites = !bot.program.commands.isDisjoint(with: ["list_pending_welcomes", "accept_welcome"])
    }

    var account: PublicKey { core.account }
    var events: AsyncStream<CoreEvent> { bot.intake.events }
    var newestInboxID: Int64 { get async { bot.intake.newest } }
    /// The account's state, including chats in which the program is not active.
    var state: AppState { get async { await core.state } }

    func complete(_ inboxID: Int64, effects: [HandlerEffect]) { bot.intake.complete(inboxID) }
    func perform(_ effects: [HandlerEffect], request: RequestID) { core.perform(effects, request: request) }
    func updates() -> AsyncStream<AppUpdate> { core.updates() }

    func dispatch(_ action: AppAction, request: RequestID?) {
        if case .startCall(_, _, let callID?, _) = action { bot.calls.add(callID) }
        core.dispatch(marked(action), request: request)
    }

    func dispatch(_ action: AppAction, request: RequestID, reportedAs id: ActionID) {
        if case .startCall(_, _, let callID?, _) = action { bot.calls.add(callID) }
        core.dispatch(marked(action), request: request, reportedAs: id)
    }

    /// Marks messages like those of every bot, so that other bots see that no person wrote them.
    private func marked(_ action: AppAction) -> AppAction {
        let effect = HandlerEffect(id: "", operation: .dispatch(action))
        guard let chatID = effect.operation.messageChat else { return action }
        let message = bot.answerTracker.answered(in: chatID)
        if let message, message.isFirst { noteAnswer(message.event) }
        let depth = message.flatMap { AutomationMarker.depth(of: $0.event) } ?? 0
        let marked = AutomationMarker.mark([effect], depth: depth).first
        guard case .dispatch(let action)? = marked?.operation else { return action }
        return action
    }

    func shown(_ state: AppState) -> AppState {
        state.limited(
            toChats: { bot.isActive(in: $0, of: state) }, showsInvites: showsInvites,
            showsCall: { bot.calls.contains($0.callID) })
    }

    // MARK: Reading

    func value(scope: String, key: String) async throws -> [UInt8]? { try await core.value(scope: scope, key: key) }

    func messages(
        chatID: ChatID, before: StoredMessage.Position?, limit: Int
    ) async throws -> [StoredMessage] {
        try await core.messages(chatID: chatID, before: before, limit: limit)
    }

    func media(chatID: ChatID, messageID: EventID, index: Int) async throws -> [UInt8] {
        try await core.media(chatID: chatID, messageID: messageID, index: index)
    }

    func groupProfiles(chatID: ChatID) async throws -> [AppState.Profile] {
        try await core.groupProfiles(chatID: chatID)
    }

    func callSession(callID: String) async -> CallSession? { await core.callSession(callID: callID) }
    func callMedia(callID: String) -> CallMediaSession? { core.callMedia(callID: callID) }
}
