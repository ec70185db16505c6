import Synchronization

/// What a handler may do, and what it may know.
///
/// Nothing is done at once: what a handler asks for is collected, and committed together with what it runs for when
/// the handler has returned. What is asked for later than that is dropped.
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

    /// What the handler runs for.
    public let trigger: BotTrigger
    public let scope: EventScope
    /// Unix milliseconds when the handler began.
    public let nowMilliseconds: Int64
    /// Names bot and chat in every line.
    public let logger: Logger
    /// The world outside the chats.
    public let services: BotServices
    /// Names the bot among those of its account; begins the ids of effects, and is the scope of values.
    package let bot: String
    /// Stands between the bot's name and the ordinal in the ids of effects.
    private let inputID: String
    private let readValue: @Sendable (_ key: String) async throws -> [UInt8]?
    let readMedia: @Sendable (_ message: EventID, _ index: Int) async throws -> [UInt8]
    private let collected = Mutex(Collected())

    /// - Parameter inputID: unless given, that of the trigger.
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
        self.services = services
        self.readValue = readValue
        self.readMedia = readMedia
    }

    /// Unix seconds when the handler began.
    public var now: Int64 { nowMilliseconds / 1000 }
    /// The event handled; nil when the handler runs for a schedule, a timer, the start, the stop or a probe.
    public var event: CoreEvent? { trigger.event }
    /// The message handled; nil when the handler runs for something else.
    public var message: MessageEvent? { trigger.message }
    /// The chat of the event or timer; empty for schedules, start, stop and probes.
    public var chatID: String { trigger.chatID }
    /// The account that the bot answers through.
    public var account: PublicKey { scope.account }
    /// The whole state when the handler began; it does not change while it runs.
    public var snapshot: AppState { scope.snapshot }
    /// The chat of the event as the snapshot shows it; nil if there is none, or it is not there any more.
    public var chat: AppState.ChatSummary? { scope.chat }

    /// Counts an error that the handler itself takes care of, as those that it throws are counted.
    public func count(_ failure: BotError) {
        collected.withLock { if !$0.isClosed { $0.failures.append(failure) } }
    }

    /// What the handler has counted; complete after ``finish()``.
    package var failures: [BotError] { collected.withLock { $0.failures } }

    /// What became of timers and conversations; complete after ``finish()``.
    package var memoryChanges: [BotMemoryChange] { collected.withLock { $0.memory } }

    /// What was asked for, with ids that a second run gives again; nothing more is taken after this. Throws what the
    /// handler did wrong without being told at once, such as sending without a chat.
    package func finish() throws(BotError) -> [HandlerEffect] {
        let (operations, misuse) = collected.withLock { collected in
            collected.isClosed = true
            return (collected.operations, collected.misuse)
        }
        if let misuse { throw misuse }
        return operations.enumerated().map { ordinal, operation in
            HandlerEffect(id: "\(bot)/\(inputID)/\(ordinal)", operation: operation)
        }
    }

    /// What a probe's handler found; nil before it has returned.
    package var probeAnswer: ProbeAnswer? { collected.withLock { $0.probeAnswer } }

    func answer(_ probe: ProbeAnswer) { collected.withLock { $0.probeAnswer = probe } }

    func collect(_ operation: HandlerEffect.Operation) {
        let isClosed = collected.withLock { collected in
            guard !collected.isClosed else { return true }
            if case .putValue(bot, let key, let value) = operation { collected.values[key] = .some(value) }
            collected.operations.append(operation)
            return false
        }
        if isClosed { logger.warning("Dropped what a handler asked for after its end") }
    }

    func remember(_ change: BotMemoryChange) {
        let isClosed = collected.withLock { collected in
            if !collected.isClosed { collected.memory.append(change) }
            return collected.isClosed
        }
        if isClosed { logger.warning("Dropped what a handler asked for after its end") }
    }

    /// Fails the handler at its end.
    func fail(_ error: BotError) {
        collected.withLock { $0.misuse = $0.misuse ?? error }
    }

    func currentValue(_ key: String) async throws -> [UInt8]? {
        if let written = collected.withLock({ $0.values[key] }) { return written }
        return try await readValue(key)
    }

    /// The id of the named chat, or of the event's; nil, and the handler fails at its end, if there is none or the name
    /// means several.
    func chat(_ reference: String?) -> String? {
        let reference = reference ?? self.chatID
        guard !reference.isEmpty else {
            fail(BotError(.noChat, "a schedule, a start or a stop has no chat: name one with to: or in:"))
            return nil
        }
        if reference == chatID { return chatID }
        do throws(AppCoreError) {
            // The core refuses a chat that it does not know.
            return try snapshot.chat(named: reference)?.chatID ?? reference
        } catch {
            fail(BotError(.ambiguousChat, error.message))
            return nil
        }
    }
}

extension CoreEvent {
    /// Names what happened, the same in every process that sees it: the id of the message, commit or call signal.
    package var inputID: String {
        switch content {
        case .message(let message): message.id.hex
        case .commit(let commit): commit.id.hex
        case .call(let call): call.id.hex
        case .joined(let join): "joined-\(chatID)-\(join.epoch)"
        }
    }
}
