import Synchronization

/// A handler's view of its trigger and of the account's state, and the effects that it can request.
///
/// ```swift
/// OnCommand("count") { _, context in
///     let key = "count/\(context.chatID)"
///     let count = Int(try await context.text(key) ?? "0") ?? 0
///     context.setText("\(count + 1)", forKey: key)
///     context.reply("\(count + 1)")
/// }
/// ```
///
/// Effects such as messages, timers and stored values are collected, and committed in one transaction with the trigger
/// once the handler has returned. If it throws, they are dropped. Effects requested later are dropped too.
public final class BotContext: Sendable {
    private struct Collected {
        var operations: [HandlerEffect.Operation] = []
        var values: [String: [UInt8]?] = [:]
        var memory: [BotMemoryChange] = []
        var misuse: BotError?
        var failures: [BotError] = []
        var probeAnswer: ProbeAnswer?
        var isClosed = false
    }

    /// The trigger that the handler runs for.
    public let trigger: BotTrigger
    /// The chat, the account and the state that filters see.
    public let scope: EventScope
    /// Unix milliseconds when the handler started.
    public let nowMilliseconds: Int64
    /// A logger that adds bot and chat to every line.
    public let logger: Logger
    /// Services outside the chats, such as HTTP and files.
    public let services: BotServices
    /// The bot's id within its account: the prefix of effect ids and the scope of values.
    package let bot: String
    /// The part of effect ids between the bot's id and the ordinal.
    private let inputID: String
    private let readValue: @Sendable (_ key: String) async throws -> [UInt8]?
    let readMedia: @Sendable (_ message: EventID, _ index: Int) async throws -> [UInt8]
    private let collected = Mutex(Collected())

    /// - Parameter inputID: the trigger's own id by default.
    package init(
        bot: String, trigger: BotTrigger, inputID: String? = nil, scope: EventScope, nowMilliseconds: Int64,
        logger: Logger,
        services: BotServices = BotServices(),
        readValue: @escaping @Sendable (_ key: String) async throws -> [UInt8]?,
        readMedia: @escaping @Sendable (_ message: EventID, _ index: Int) async throws -> [UInt8]
    ) {
        self.bot = bot
        self.trigger = trigger
        self.inputID = inputID ?? trigger.inputID(nowMilliseconds: nowMilliseconds)
        self.scope = scope
        self.nowMilliseconds = nowMilliseconds
        self.logger = logger
        var services = services
        services.bot = bot
        self.services = services
        self.readValue = readValue
        self.readMedia = readMedia
    }

    /// An idempotency key for a request of this handler: the same when the handler runs again for this trigger.
    ///
    /// - Parameter name: Distinguishes several requests of one handler.
    public func idempotencyKey(_ name: String = "request") -> String { "\(bot)/\(inputID)/\(name)" }

    /// The time when the handler started.
    public var now: UnixTime { UnixTime(milliseconds: nowMilliseconds) }
    /// The handled event, which may be an item of a feed; nil when the handler runs for a schedule, a timer, the start, the
    /// stop or a probe.
    public var event: CoreEvent? { trigger.event }
    /// The handled message; nil for any other trigger.
    public var message: MessageEvent? { trigger.message }
    /// The chat of the event or timer; empty for feeds, schedules, start, stop and probes.
    public var chatID: ChatID { trigger.chatID }
    /// The public key of the account that the bot runs as.
    public var account: PublicKey { scope.account }
    /// The account's whole state as of the handler's start; it does not change while the handler runs.
    public var snapshot: AppState { scope.snapshot }
    /// The event's chat in the snapshot; nil if the event has none or the snapshot no longer contains it.
    public var chat: AppState.ChatSummary? { scope.chat }

    /// Counts an error that the handler has recovered from in the same metrics as the errors it throws.
    public func recordFailure(_ failure: BotError) {
        collected.withLock { if !$0.isClosed { $0.failures.append(failure) } }
    }

    /// The errors that the handler has counted; complete after ``finish()``.
    package var failures: [BotError] { collected.withLock { $0.failures } }

    /// The changes to timers and conversations; complete after ``finish()``.
    package var memoryChanges: [BotMemoryChange] { collected.withLock { $0.memory } }

    /// Returns the requested effects, with ids that are the same when the handler runs again, and closes the context.
    /// Throws the first misuse that was not reported at the call, such as sending without a chat.
    package func finish() throws(BotError) -> [HandlerEffect] {
        let (operations, misuse) = collected.withLock { collected in
            collected.isClosed = true
            return (collected.operations, collected.misuse)
        }
        if let misuse { throw misuse }
        return operations.enumerated().map { ordinal, operation in
            HandlerEffect(id: actionID(ordinal).rawValue, operation: operation)
        }
    }

    private func actionID(_ ordinal: Int) -> ActionID { ActionID(rawValue: "\(bot)/\(inputID)/\(ordinal)") }

    /// The probe handler's result; nil before it has returned.
    package var probeAnswer: ProbeAnswer? { collected.withLock { $0.probeAnswer } }

    func answer(_ probe: ProbeAnswer) { collected.withLock { $0.probeAnswer = probe } }

    /// Requests an effect; returns its id, which belongs to nothing if the handler has ended.
    @discardableResult
    func collect(_ operation: HandlerEffect.Operation) -> ActionID {
        let ordinal: Int? = collected.withLock { collected in
            guard !collected.isClosed else { return nil }
            if case .putValue(bot, let key, let value) = operation { collected.values[key] = .some(value) }
            collected.operations.append(operation)
            return collected.operations.count - 1
        }
        guard let ordinal else {
            logger.warning("Dropped an effect requested after the handler had ended")
            return noAction
        }
        return actionID(ordinal)
    }

    /// The id of an action that was not requested, because the handler has ended or fails when it returns.
    var noAction: ActionID { ActionID(rawValue: "\(bot)/\(inputID)/none") }

    func remember(_ change: BotMemoryChange) {
        let isClosed = collected.withLock { collected in
            if !collected.isClosed { collected.memory.append(change) }
            return collected.isClosed
        }
        if isClosed { logger.warning("Dropped an effect requested after the handler had ended") }
    }

    /// Records an error that fails the handler when it returns.
    func fail(_ error: BotError) {
        collected.withLock { $0.misuse = $0.misuse ?? error }
    }

    func currentValue(_ key: String) async throws -> [UInt8]? {
        if let written = collected.withLock({ $0.values[key] }) { return written }
        return try await readValue(key)
    }

    /// Returns the id of the named chat, or of the event's chat. Returns nil, and fails the handler when it returns, if
    /// there is no chat or the name is ambiguous.
    func chat(_ reference: ChatID?) -> ChatID? {
        let reference = reference ?? self.chatID
        guard !reference.rawValue.isEmpty else {
            fail(
                BotError(
                    .noChat, "the trigger has no chat (feed, schedule, start or stop): pass a chat id as `to:` or `in:`"
                )
            )
            return nil
        }
        if reference == chatID { return chatID }
        do throws(AppCoreError) {
            // The core rejects an unknown chat.
            return try snapshot.chat(named: reference.rawValue)?.chatID ?? reference
        } catch {
            fail(BotError(.ambiguousChat, error.message))
            return nil
        }
    }
}

extension CoreEvent {
    /// An id of the event that is the same in every process: the id of the message, commit, proposal or call signal. A message
    /// may be withdrawn and restored repeatedly, and a feed may repeat an old id, so the id of such an event also contains
    /// its inbox row.
    package var inputID: String {
        switch content {
        case .message(let message): message.id.hex
        case .commit(let commit): commit.id.hex
        case .proposal(let proposal): proposal.id.hex
        case .call(let call): call.id.hex
        case .joined(let join): "joined-\(chatID)-\(join.epoch)"
        case .feed(let item): "\(item.eventID.hex)-\(inboxID)"
        case .withdrawn(let withdrawn):
            "\(withdrawn.isRestored ? "restored" : "withdrawn")-\(withdrawn.id.hex)-\(inboxID)"
        case .outcome: "outcome-\(inboxID)"
        }
    }
}
