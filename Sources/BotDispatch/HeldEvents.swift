import PikaCore
import Synchronization

/// Events held for bots with too many hanging handlers. Other bots have handled them already. An event is complete when
/// all bots have handled it; until then the names of the remaining bots are stored, in one transaction with the effects
/// of the others.
final class HeldEvents: Sendable {
    private struct Entry {
        let event: CoreEvent
        /// The labels of the remaining bots.
        var bots: Set<String>
        /// Whether the event is queued again.
        var isQueued = false
    }

    /// The scope of the stored entries; a bot's name never contains a slash.
    private static let scope = "pikabot/held"

    /// Entries by inbox row.
    private let entries = Mutex<[Int64: Entry]>([:])
    private let newestOfEarlier = Atomic<Int64>(0)

    /// - Parameter newestOfEarlier: the newest inbox row that an earlier process may have held.
    func begin(newestOfEarlier: Int64) { self.newestOfEarlier.store(newestOfEarlier, ordering: .relaxed) }

    /// Returns the bots that still need an event; nil if this process does not hold it.
    func bots(of event: CoreEvent) -> Set<String>? { entries.withLock { $0[event.inboxID]?.bots } }

    func hold(_ event: CoreEvent, for bots: Set<String>) {
        entries.withLock { $0[event.inboxID] = Entry(event: event, bots: bots) }
    }

    func done(_ event: CoreEvent) { entries.withLock { $0[event.inboxID] = nil } }

    /// Returns whether an earlier event of the chat or feed is held for the bot, since its events are delivered in order.
    func isBehind(_ event: CoreEvent, _ bot: String) -> Bool {
        entries.withLock { entries in
            entries.values.contains {
                $0.event.inboxID < event.inboxID && $0.event.lane == event.lane && $0.bots.contains(bot)
            }
        }
    }

    /// Returns the events that may be deliverable now, in order, and marks them as queued.
    func dequeueReady(_ isReady: (String) -> Bool) -> [CoreEvent] {
        entries.withLock { entries in
            guard !entries.isEmpty else { return [] }
            let ready = entries.values.filter { !$0.isQueued && $0.bots.contains(where: isReady) }.map(\.event)
            for event in ready { entries[event.inboxID]?.isQueued = true }
            return ready.sorted { $0.inboxID < $1.inboxID }
        }
    }

    // MARK: The store

    /// Returns the effect that stores which bots still need an event, or deletes the entry if none does.
    static func effect(_ event: CoreEvent, _ bots: Set<String>) -> HandlerEffect {
        let value = bots.isEmpty ? nil : Array(bots.sorted().joined(separator: "\n").utf8)
        return HandlerEffect(
            id: "\(scope)/\(event.inboxID)",
            operation: .putValue(scope: scope, key: "\(event.inboxID)", value: value))
    }

    /// Returns the bots that still need an event, even if an earlier process held it; nil if all bots need it.
    func load(_ event: CoreEvent, from core: any HandlerCore) async throws -> Set<String>? {
        if let known = bots(of: event) { return known }
        guard event.inboxID <= newestOfEarlier.load(ordering: .relaxed) else { return nil }
        return try await core.value(scope: Self.scope, key: "\(event.inboxID)").map {
            Set(String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init))
        }
    }
}
