import Foundation

/// The next step of a conversation after a message.
public enum ConversationStep<State: Codable & Sendable>: Sendable {
    /// Waits for the person's next message in this state.
    case wait(State)
    /// Ends the conversation, and deletes its state and its timer.
    case end
}

/// A conversation over several messages with one person in one chat, as a state machine.
///
/// State and timeout are committed together with the message that led to them: a conversation continues after a
/// restart, and no message of it is handled twice.
///
/// ```swift
/// Conversation("order", when: .command("order"), timeout: .seconds(300)) { _, context in
///     context.reply("What would you like?")
///     return .wait(Order())
/// } next: { order, message, context in
///     guard order.dish != nil else {
///         context.reply("And how many?")
///         return .wait(Order(dish: message.content))
///     }
///     context.reply("Thank you.")
///     return .end
/// } timedOut: { _, context in
///     context.send("Never mind, then.")
/// }
/// ```
///
/// While it is active, a conversation receives every chat message of that person in that chat that the handlers above
/// it do not accept, even where the bot otherwise answers only mentions. A message that matches the opening restarts
/// it. `/cancel` ends it.
public struct Conversation<State: Codable & Sendable>: HandlerDeclaration, Sendable {
    /// Handles the opening message, and returns the first step.
    public typealias Begin = @Sendable (MessageEvent, BotContext) async throws -> ConversationStep<State>
    /// Handles the person's next message in the stored state, and returns the next step.
    public typealias Next = @Sendable (State, MessageEvent, BotContext) async throws -> ConversationStep<State>
    /// Handles the expiry of the timeout in the stored state.
    public typealias TimedOut = @Sendable (State, BotContext) async throws -> Void

    private let name: String
    private let opening: EventFilter<MessageEvent>
    private let timeout: Duration
    private let cancel: String?
    private let begin: Begin
    private let next: Next
    private let timedOut: TimedOut?

    /// Creates a conversation. Stored states are JSON; one that cannot be decoded ends the conversation.
    ///
    /// - Parameters:
    ///   - name: identifies the conversation within the bot; must not change between restarts.
    ///   - opening: selects the messages that start it.
    ///   - timeout: limits the wait for each message.
    ///   - cancel: the message by which the person ends the conversation, ignoring case; nil for none.
    ///   - begin: handles the opening message.
    ///   - next: handles each further message.
    ///   - timedOut: runs when the timeout expires; the conversation then ends, even if this throws.
    public init(
        _ name: String, when opening: EventFilter<MessageEvent>, timeout: Duration = .seconds(600),
        cancel: String? = "/cancel", begin: @escaping Begin, next: @escaping Next, timedOut: TimedOut? = nil
    ) {
        self.name = name
        self.opening = .kind(.chatMessage) && opening
        self.timeout = timeout
        self.cancel = cancel
        self.begin = begin
        self.next = next
        self.timedOut = timedOut
    }

    /// The handler for the messages and the timer of the conversation.
    public var handler: Handler {
        var handler = Handler(label: "conversation \(name)", onTrigger: { accept($0, $1) })
        handler.conversation = name
        return handler
    }

    private func accept(_ trigger: BotTrigger, _ scope: EventScope) -> Handler.Work? {
        if let message = trigger.message {
            if opening.matches(message, in: scope) { return { try await begin(message, $0) } }
            guard message.kind == .chatMessage, let stored = scope.conversations[name] else { return nil }
            return { try await advance(stored, message, $0) }
        }
        guard case .timer(let run) = trigger, run.name == timerName, let stored = scope.conversations[name] else {
            return nil
        }
        return { try await expire(stored, of: run.key, $0) }
    }

    private func begin(_ message: MessageEvent, _ context: BotContext) async throws {
        try apply(try await begin(message, context), from: message.sender.hex, context)
    }

    private func advance(_ stored: [UInt8], _ message: MessageEvent, _ context: BotContext) async throws {
        let person = message.sender.hex
        if let cancel, message.content.trimmingBlanks.lowercased() == cancel.lowercased() {
            discard(person, context)
            context.reply("Cancelled.")
            return
        }
        guard let state = state(stored, context) else { return discard(person, context) }
        try apply(try await next(state, message, context), from: person, context)
    }

    private func expire(_ stored: [UInt8], of person: String, _ context: BotContext) async throws {
        discard(person, context)
        guard let timedOut, let state = state(stored, context) else { return }
        try await timedOut(state, context)
    }

    // MARK: Stored state

    private var timerName: String { ConversationName.timerPrefix + name }

    private func apply(_ step: ConversationStep<State>, from person: String, _ context: BotContext) throws {
        guard case .wait(let state) = step else { return discard(person, context) }
        let name = ConversationName(chatID: context.chatID, person: person, name: name)
        context.remember(.setConversation(name, state: Array(try JSONEncoder().encode(state))))
        context.setTimer(timerName, key: person, after: timeout)
    }

    private func discard(_ person: String, _ context: BotContext) {
        context.remember(.endConversation(ConversationName(chatID: context.chatID, person: person, name: name)))
        context.cancelTimer(timerName, key: person)
    }

    /// Decodes the stored state; nil if another version of the bot wrote one that this version cannot read.
    private func state(_ stored: [UInt8], _ context: BotContext) -> State? {
        do { return try JSONDecoder().decode(State.self, from: Data(stored)) } catch {
            context.logger.warning(
                "Ended a conversation: cannot decode its stored state", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
