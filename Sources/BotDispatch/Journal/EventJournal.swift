import BotKit
import Nostr
package import PikaCore
import Synchronization

/// A journal of the recent fates of events, which explains why an event was not answered. It keeps the newest 1,000
/// each of ignored events, of handled events, and of events that the core refused or parked.
///
/// It is kept in memory and stored in batches every few seconds, encrypted like all values: explanations cost no
/// transactions of their own under load, and a crash loses only those of the last seconds.
package final class EventJournal: CoreObserver {
    /// The scope of the runtime's own values; a bot's name never contains a slash.
    package static let scope = "pikabot/journal"
    package static let capacity = 1_000
    static let storingInterval: Int64 = 2_000
    /// The limit of open events that the journal knows; more than can be queued.
    private static let maximumOpen = 20_000

    private struct State: Sendable {
        var ignored: JournalRing
        var handled: JournalRing
        var core: JournalRing
        /// Events that have arrived and are not completed, by inbox row: their ids and times of arrival.
        var open: [Int64: (id: String, wrapper: String?, at: UnixTime)] = [:]
        var batches = 0
    }

    private let state: Mutex<State>
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    package init(capacity: Int = EventJournal.capacity) {
        state = Mutex(
            State(
                ignored: JournalRing(name: "ignored", capacity: capacity),
                handled: JournalRing(name: "handled", capacity: capacity),
                core: JournalRing(name: "core", capacity: capacity)))
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func note(_ entry: JournalEntry) {
        state.withLock { state in
            switch entry.fate {
            case .ignored: state.ignored.add(entry)
            case .handled, .failed, .actionFailed: state.handled.add(entry)
            case .refused, .waiting, .gaveUp: state.core.add(entry)
            }
        }
        changed.yield()
    }

    package func note(_ notice: CoreNotice) { note(JournalEntry(notice)) }

    func open(_ event: CoreEvent) {
        let (id, wrapper) = event.journalNames
        state.withLock { state in
            guard state.open.count < Self.maximumOpen else { return }
            state.open[event.inboxID] = (id, wrapper, event.receivedAt)
        }
    }

    func close(_ event: CoreEvent) { state.withLock { _ = $0.open.removeValue(forKey: event.inboxID) } }

    /// The newest ignored events, oldest first.
    package var ignored: [JournalEntry] { state.withLock { Array($0.ignored.newest) } }

    /// Returns all entries of events whose inner or outer id has this prefix, oldest first.
    package func entries(matching prefix: String) -> [JournalEntry] {
        state.withLock { state in
            [state.ignored, state.handled, state.core].flatMap { $0.newest.filter { $0.matches(prefix) } }
        }
        .sorted { $0.at < $1.at }
    }

    /// Returns the events with this id prefix that have arrived and are not completed.
    func open(matching prefix: String) -> [(id: String, at: UnixTime)] {
        state.withLock { state in
            state.open.values.filter { $0.id.hasPrefix(prefix) || $0.wrapper?.hasPrefix(prefix) == true }
                .map { ($0.id, $0.at) }
        }
    }

    /// Returns the newest entries of a time span, oldest first.
    func entries(in span: ClosedRange<UnixTime>, limit: Int) -> [JournalEntry] {
        let found = state.withLock { state in
            [state.ignored, state.handled, state.core].flatMap { $0.newest.filter { span.contains($0.at) } }
        }
        return Array(found.sorted { $0.at < $1.at }.suffix(limit))
    }

    /// Returns the events that have arrived in a time span and are not completed.
    func open(in span: ClosedRange<UnixTime>) -> [(id: String, at: UnixTime)] {
        state.withLock { state in
            state.open.values.filter { span.contains($0.at) }.map { ($0.id, $0.at) }
        }
    }

    // MARK: Storing

    /// Loads the entries of earlier processes, then stores new ones until the task is cancelled; may be called once.
    package func run(with core: any HandlerCore, clock: any CoreClock) async {
        await restore(from: core)
        for await _ in changes {
            do { try await clock.sleep(untilMilliseconds: clock.nowMilliseconds + Self.storingInterval) } catch {
                break
            }
            store(in: core)
        }
        // Stores the entries of the last events before a shutdown.
        store(in: core)
    }

    func restore(from core: any HandlerCore) async {
        for ring in [\State.ignored, \.handled, \.core] as [WritableKeyPath<State, JournalRing> & Sendable] {
            var blocks: [[UInt8]] = []
            for key in state.withLock({ $0[keyPath: ring].keys }) {
                // An unreadable store ends the core; here it only means that older entries are missing.
                if let block = try? await core.value(scope: Self.scope, key: key) { blocks.append(block) }
            }
            state.withLock { $0[keyPath: ring].restore(blocks) }
        }
    }

    private func store(in core: any HandlerCore) {
        let (blocks, number) = state.withLock { state in
            state.batches += 1
            return (
                state.ignored.drainUnstored() + state.handled.drainUnstored() + state.core.drainUnstored(),
                state.batches
            )
        }
        guard !blocks.isEmpty else { return }
        let effects = blocks.map { key, bytes in
            HandlerEffect(
                id: "\(Self.scope)/\(number)/\(key)",
                operation: .putValue(scope: Self.scope, key: key, value: bytes))
        }
        core.perform(effects, request: RequestID(rawValue: "\(Self.scope)/\(number)"))
    }
}
