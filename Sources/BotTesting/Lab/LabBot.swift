import BotKit

/// Runs a bot as the runtime does, one event after the other: the first handler that accepts an event handles it.
struct LabBot {
    private let handlers: [Handler]
    private let name: String
    private let accountName: String
    private let core: AppCore
    private let clock: ManualClock
    private let logger: Logger

    init(_ bot: any Bot, name: String, core: AppCore, clock: ManualClock, logger: Logger) {
        self.handlers = bot.handlers
        self.name = type(of: bot).name
        self.accountName = name
        self.core = core
        self.clock = clock
        self.logger = logger
    }

    func run(_ observe: (CoreEvent) -> Void) async {
        for await event in self.core.events {
            observe(event)
            self.core.complete(event.inboxID, effects: await self.handle(event))
        }
    }

    private func handle(_ event: CoreEvent) async -> [HandlerEffect] {
        let scope = EventScope(
            chatID: event.chatID, account: self.core.account, accountName: self.accountName,
            snapshot: await self.core.state)
        for handler in self.handlers {
            guard let work = handler.accept(.event(event), scope) else { continue }
            let core = self.core
            let name = self.name
            let context = BotContext(
                bot: name, trigger: .event(event), scope: scope, nowMilliseconds: self.clock.nowMilliseconds,
                logger: self.logger,
                readValue: { try await core.value(scope: name, key: $0) },
                readMedia: { try await core.media(chatID: event.chatID, messageID: $0, index: $1) })
            do {
                try await work(context)
                return try context.finish()
            } catch {
                self.logger.error("A handler failed", metadata: ["handler": "\(handler.label)", "error": "\(error)"])
                return []
            }
        }
        return []
    }
}
