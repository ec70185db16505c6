import PikaCore
import Synchronization

/// Events that wait for bots of which too many handlers hang. Other bots are done with them already; each is done with
/// when all are, and which are not is stored with what the others asked for.
final class HeldEvents: Sendable {
    private struct Entry {
        let event: CoreEvent
        /// Labels.
        var bots: Set<String>
        /// Whether it is in line again.
        var isQueued = false
    }

    /// No bot's name has a slash.
    private static let scope = "pikabot/held"

    /// By inbox row.
    private let entries = Mutex<[Int64: Entry]>([:])
    private let newestOfEarlier = Atomic<Int64>(0)

    /// - Parameter newestOfEarlier: the newest inbox row that an earlier process may have held.
    func begin(newestOfEarlier: Int64) { self.newestOfEarlier.store(newestOfEarlier, ordering: .relaxed) }

    /// The bots that an event is still for; nil if it was not held in this process.
    func bots(of event: CoreEvent) -> Set<String>? { entries.withLock { $0[event.inboxID]?.bots } }

    func hold(_ event: CoreEvent, for bots: Set<String>) {
        entries.withLock { $0[event.inboxID] = Entry(event: event, bots: bots) }
    }

    func done(_ event: CoreEvent) { entries.withLock { $0[event.inboxID] = nil } }

    /// Whether an earlier event of the chat still waits for the bot: its events come in order.
    func isBehind(_ event: CoreEvent, _ bot: String) -> Bool {
        entries.withLock { entries in
            entries.values.contains {
                $0.event.inboxID < event.inboxID && $0.event.chatID == event.chatID && $0.bots.contains(bot)
            }
        }
    }

    /// Those whose turn it may be now, in order; in line from then on.
    func takeReady(_ isReady: (String) -> Bool) -> [CoreEvent] {
        entries.withLock { entries in
            guard !entries.isEmpty else { return [] }
            let ready = entries.values.filter { !$0.isQueued && $0.bots.contains(where: isReady) }.map(\.event)
            for event in ready { entries[event.inboxID]?.isQueued = true }
            return ready.sorted { $0.inboxID < $1.inboxID }
        }
    }

    // MARK: The store

    /// Notes which bots an event is still for; none for it is done with.
    static func effect(_ event: CoreEvent, _ bots: Set<String>) -> HandlerEffect {
        let value = bots.isEmpty ? nil : Array(bots.sorted().joined(separator: "\n").utf8)
        return HandlerEffect(
            id: "\(scope)/\(event.inboxID)",
            operation: .putValue(scope: scope, key: "\(event.inboxID)", value: value))
    }

    /// The bots that an event is still for, also if an earlier process held it; nil for all of them.
    func load(_ event: CoreEvent, from core: any HandlerCore) async throws -> Set<String>? {
        if let known = bots(of: event) { return known }
        guard event.inboxID <= newestOfEarlier.load(ordering: .relaxed) else { return nil }
        return try await core.value(scope: Self.scope, key: "\(event.inboxID)").map {
            Set(String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init))
        }
    }
}
