import BotKit
import PikaCore
import Synchronization

/// The current timers and conversations of an account's bots, mirrored in the store.
///
/// For each bot the store contains a list of the chats that have any, and an entry for each of these chats.
final class BotMemory: Sendable {
    private struct State {
        var bots: [String: [ChatID: ChatMemory]] = [:]
        /// Timers that are queued or running.
        var running: Set<Timer> = []
    }

    private struct Timer: Hashable {
        let bot: String
        let run: TimerRun
    }

    /// The limit for one bot in one chat; further timers are refused.
    static let maximumTimers = 1000

    private let state = Mutex(State())

    // MARK: Reading

    /// Returns the states of active conversations by name.
    func conversations(of bot: String, in chatID: ChatID, with person: String) -> [String: [UInt8]] {
        state.withLock { $0.bots[bot]?[chatID]?.conversations[person] ?? [:] }
    }

    /// Returns whether a timer is still set unchanged.
    func isSet(_ run: TimerRun, of bot: String) -> Bool {
        state.withLock { $0.bots[bot]?[run.chatID]?.timers[run.timer] == run }
    }

    /// Returns the time of the next timer, except queued and running ones, in Unix milliseconds.
    func nextTimer(of bots: Set<String>) -> Int64? {
        state.withLock { state in
            Self.waiting(state, of: bots).map(\.run.dueMilliseconds).min()
        }
    }

    /// Returns the due timers in order, and marks them as queued.
    func dequeueDue(nowMilliseconds now: Int64, of bots: Set<String>) -> [(bot: String, run: TimerRun)] {
        state.withLock { state in
            let due = Self.waiting(state, of: bots).filter { $0.run.dueMilliseconds <= now }
            state.running.formUnion(due)
            return due.sorted {
                ($0.run.dueMilliseconds, $0.bot, $0.run.name, $0.run.chatID, $0.run.key)
                    < ($1.run.dueMilliseconds, $1.bot, $1.run.name, $1.run.chatID, $1.run.key)
            }.map { ($0.bot, $0.run) }
        }
    }

    /// Records that a timer's run has ended, whatever its outcome.
    func finish(_ run: TimerRun, of bot: String) {
        state.withLock { _ = $0.running.remove(Timer(bot: bot, run: run)) }
    }

    private static func waiting(_ state: State, of bots: Set<String>) -> [Timer] {
        state.bots.filter { bots.contains($0.key) }.flatMap { bot, chats in
            chats.values.flatMap { $0.timers.values.map { Timer(bot: bot, run: $0) } }
        }.filter { !state.running.contains($0) }
    }

    // MARK: Writing

    /// Applies changes and passes on the effects that make them durable in one atomic step: concurrent changes are
    /// ordered before or after it. Returns the number of refused timers.
    @discardableResult
    func commit(_ changes: [(bot: String, change: BotMemoryChange)], _ submit: ([HandlerEffect]) -> Void) -> Int {
        state.withLock { state in
            var refused = 0
            var before: [String: [ChatID: ChatMemory]] = [:]
            for (bot, change) in changes {
                before[bot] = before[bot] ?? state.bots[bot, default: [:]]
                var memory = state.bots[bot]?[change.chatID] ?? ChatMemory()
                if !memory.apply(change) { refused += 1 }
                state.bots[bot, default: [:]][change.chatID] = memory.isEmpty ? nil : memory
            }
            let effects = before.keys.sorted().flatMap { bot in
                Self.effects(of: bot, from: before[bot] ?? [:], to: state.bots[bot] ?? [:])
            }
            submit(effects)
            return refused
        }
    }

    // MARK: The store

    private static let listKey = "chats"

    private static func scope(of bot: String) -> String { "\(bot)/memory" }

    /// Returns the effects that turn one memory of a bot into another.
    private static func effects(
        of bot: String, from before: [ChatID: ChatMemory], to after: [ChatID: ChatMemory]
    ) -> [HandlerEffect] {
        let chats = Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }
        var effects = chats.map { put(bot, $0.rawValue, after[$0]?.stored) }
        if Set(before.keys) != Set(after.keys) {
            let list = after.keys.map(\.rawValue).sorted().joined(separator: "\n")
            effects.append(put(bot, listKey, Array(list.utf8)))
        }
        return effects
    }

    private static func put(_ bot: String, _ key: String, _ value: [UInt8]?) -> HandlerEffect {
        HandlerEffect(
            id: "\(bot)/memory/\(key)",
            operation: .putValue(scope: scope(of: bot), key: key, value: value?.isEmpty == true ? nil : value))
    }

    /// Loads the stored memory of a bot, unless it is loaded already.
    func load(_ bot: String, from core: any HandlerCore) async throws {
        guard state.withLock({ $0.bots[bot] == nil }) else { return }
        let list = try await core.value(scope: Self.scope(of: bot), key: Self.listKey) ?? []
        let snapshot = core.snapshot()
        var stored: [ChatID: ChatMemory] = [:]
        var chats: [ChatID: ChatMemory] = [:]
        for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
            let key = ChatID(rawValue: String(line))
            guard let bytes = try await core.value(scope: Self.scope(of: bot), key: key.rawValue) else { continue }
            // Earlier versions stored it under the nostrGroupID, which may be ambiguous now.
            let chatID = (try? snapshot.chat(named: key.rawValue))?.chatID ?? key
            stored[key] = ChatMemory(stored: bytes, chatID: key)
            // An entry under the chat id is newer.
            if chats[chatID] == nil || chatID == key { chats[chatID] = ChatMemory(stored: bytes, chatID: chatID) }
        }
        let effects = Self.effects(of: bot, from: stored, to: chats)
        if !effects.isEmpty { core.perform(effects, request: RequestID(rawValue: "bots/\(bot)/memory/chat-ids")) }
        state.withLock { $0.bots[bot] = chats }
    }
}

extension BotMemoryChange {
    fileprivate var chatID: ChatID {
        switch self {
        case .setTimer(let run): run.chatID
        case .cancelTimer(let name): name.chatID
        case .setConversation(let name, _), .endConversation(let name): name.chatID
        }
    }
}
