package import BotDispatch
import BotKit
import BotStorage
import PikaCore
import Storage
import Synchronization

/// The bots of a ``GroupLab`` account, with their labels and policies.
package struct LabBots: Sendable {
    /// A bot as a configuration would install it.
    package struct Entry: Sendable {
        /// The bot to run.
        package var bot: any Bot
        /// The bot's name, unique in its account.
        package var label: String
        /// The messages that may trigger it.
        package var policy: BotPolicy

        /// Creates an entry; the label must be unique in the account.
        package init(_ bot: any Bot, label: String, policy: BotPolicy = BotPolicy()) {
            self.bot = bot
            self.label = label
            self.policy = policy
        }

        var installed: InstalledBot { InstalledBot(self.bot, label: self.label, policy: self.policy) }
    }

    /// The bots of the account.
    package var entries: [Entry]
    /// The accounts that may operate them.
    package var operators: Set<PublicKey>
    /// The services outside the chats; the lab provides the chats and the clock.
    package var services: BotServices

    /// The folder of the bots' database files; nil for none. The test removes it.
    package var databaseFolder: String?

    /// Creates the bots of an account; by default without operators.
    package init(_ entries: [Entry], operators: Set<PublicKey> = [], services: BotServices = BotServices()) {
        self.entries = entries
        self.operators = operators
        self.services = services
    }
}

extension LabMember {
    /// Runs bots as the runtime does: with the same dispatcher, on the lab's thread and clock.
    func dispatch(to bots: LabBots, _ core: AppCore) async {
        var configuration = BotDispatcher.Configuration(accountName: self.name)
        configuration.services = bots.services
        configuration.services.chats = CoreChats(core)
        configuration.services.inbox = CoreInbox(core)
        configuration.services.calls = CoreCalls(core, clock: self.lab.clock)
        configuration.services.clock = self.lab.clock
        // Records are in the member's store, so that a crash of the member loses what was not committed.
        if let store = self.lastStore.withLock({ $0 }) { configuration.services.records = StoredRecords(store) }
        let resources = BotResources()
        configuration.services.resources = resources
        let databases = bots.databaseFolder.map { folder in
            // On the lab's thread, so that the lab knows when nothing is left to do.
            StoredDatabases(folder: folder, limits: DatabaseLimits(timeout: nil)) { [key = Self.databaseKey] in
                ValueSealer(key, file: $0)
            }
        }
        if let databases { configuration.services.databases = databases }
        configuration.admission = Admission(operators: bots.operators)
        configuration.executor = self.lab.executor
        configuration.inFlightStorage = self.inFlightStorage.withLock { $0 }
        let dispatcher = BotDispatcher(
            bots: bots.entries.map(\.installed), core: core, clock: self.lab.clock, configuration: configuration,
            logger: self.lab.log.logger(self.name)
        ) { if case .received(let event) = $0 { self.recordEvent(event) } }
        self.dispatcher.withLock { $0 = dispatcher }
        await withDiscardingTaskGroup { group in
            group.addTask { await resources.background.run() }
            // The store throws after a crash of the member, which is expected.
            try? await dispatcher.run()
            resources.background.finish()
            group.cancelAll()
        }
        await databases?.close()
    }

    /// Seals the database files of all members; labs keep no secrets.
    private static let databaseKey = SealingKey.random()

    /// The admission of the current run's bots, or of the last run's.
    package var admission: Admission? { self.dispatcher.withLock { $0 }?.configuration.admission }

    /// Explains how the bots' runtime handled an event in the current run, as `pikabot why` does.
    package func why(_ event: EventID) -> [String] {
        guard let journal = self.admission?.journal else { return [] }
        return EventExplanation(of: event.hex, from: journal)?.lines ?? []
    }

    /// Replaces its bots while they run; settles.
    package func reconfigure(_ bots: [LabBots.Entry]) async throws {
        guard let dispatcher = self.dispatcher.withLock({ $0 }) else {
            throw self.lab.error(.unmet, "\(self.name) has no bots")
        }
        self.bots.withLock { $0?.entries = bots }
        try await self.lab.run { try await dispatcher.reconfigure(bots.map(\.installed)) }
    }

    /// Performs a probe by its bots, as `GET /probe` does. Throws `BotError.Code.probeRefused` for probes that their
    /// settings do not allow, and for a module that none of them has.
    package func probe(_ request: ProbeRequest) async throws -> ProbeAnswer {
        guard let dispatcher = self.dispatcher.withLock({ $0 }) else {
            throw self.lab.error(.unmet, "\(self.name) has no bots")
        }
        switch try await self.lab.run({ await dispatcher.probe(request) }) {
        case .answered(let answer): return answer
        case .refused(let reason): throw BotError(.probeRefused, reason)
        case .unknownModule(let modules): throw BotError(.probeRefused, "available modules: \(modules)")
        }
    }

    /// Pauses or resumes a bot; settles.
    package func setPaused(_ isPaused: Bool, _ bot: String) async throws {
        guard let dispatcher = self.dispatcher.withLock({ $0 }) else {
            throw self.lab.error(.unmet, "\(self.name) has no bots")
        }
        let isKnown = isPaused ? dispatcher.pause(bot) : dispatcher.resume(bot)
        guard isKnown else { throw self.lab.error(.unmet, "\(self.name) has no bot named \(bot)") }
        try await self.lab.settle()
    }
}
