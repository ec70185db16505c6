import Synchronization

/// What a handler may do about one event, and what it may know.
///
/// Nothing is done at once: what a handler asks for is collected, and committed together with the event when the
/// handler has returned. What is asked for later than that is dropped.
public final class BotContext: Sendable {
    private struct Collected {
        var operations: [HandlerEffect.Operation] = []
        var values: [String: [UInt8]?] = [:]
        var isClosed = false
    }

    /// The event handled.
    public let event: CoreEvent
    public let scope: EventScope
    /// Unix seconds when the handler began.
    public let now: Int64
    /// Names bot and chat in every line.
    public let logger: Logger
    /// The world outside the chats.
    public let services: BotServices
    /// Names the bot among those of its account; begins the ids of effects, and is the scope of values.
    package let bot: String
    private let readValue: @Sendable (_ key: String) async throws -> [UInt8]?
    let readMedia: @Sendable (_ message: EventID, _ index: Int) async throws -> [UInt8]
    private let collected = Mutex(Collected())

    package init(
        bot: String, event: CoreEvent, scope: EventScope, now: Int64, logger: Logger,
        services: BotServices = BotServices(),
        readValue: @escaping @Sendable (_ key: String) async throws -> [UInt8]?,
        readMedia: @escaping @Sendable (_ message: EventID, _ index: Int) async throws -> [UInt8]
    ) {
        self.bot = bot
        self.event = event
        self.scope = scope
        self.now = now
        self.logger = logger
        self.services = services
        self.readValue = readValue
        self.readMedia = readMedia
    }

    public var chatID: String { event.chatID }
    /// The account that the bot answers through.
    public var account: PublicKey { scope.account }
    /// The whole state when the event was taken up; it does not change while the handler runs.
    public var snapshot: AppState { scope.snapshot }
    /// The chat of the event as the snapshot shows it; nil if it is not there any more.
    public var chat: AppState.ChatSummary? { scope.chat }

    /// What was asked for, with ids that a second run gives again; nothing more is taken after this.
    package func finish() -> [HandlerEffect] {
        let operations = collected.withLock { collected in
            collected.isClosed = true
            return collected.operations
        }
        return operations.enumerated().map { ordinal, operation in
            HandlerEffect(id: "\(bot)/\(event.inputID)/\(ordinal)", operation: operation)
        }
    }

    func collect(_ operation: HandlerEffect.Operation) {
        let isClosed = collected.withLock { collected in
            guard !collected.isClosed else { return true }
            if case .putValue(_, let key, let value) = operation { collected.values[key] = .some(value) }
            collected.operations.append(operation)
            return false
        }
        if isClosed { logger.warning("Dropped what a handler asked for after its end") }
    }

    func currentValue(_ key: String) async throws -> [UInt8]? {
        if let written = collected.withLock({ $0.values[key] }) { return written }
        return try await readValue(key)
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
