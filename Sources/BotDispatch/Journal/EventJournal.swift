import BotKit
package import PikaCore
import Synchronization

/// Remembers what became of events lately, so that somebody can ask why one was not answered: the newest 1,000 that
/// were ignored, that handlers took, and that the core refused or keeps, each.
///
/// It lives in memory and is stored in batches every few seconds, sealed as all values are: explanations cost no
/// transaction of their own under load, and the worst that a crash takes is those of the last seconds.
package final class EventJournal: CoreObserver {
    /// Where values of the runtime itself are; no bot's name has a slash.
    package static let scope = "pikabot/journal"
    package static let capacity = 1_000
    static let storingInterval: Int64 = 2_000
    /// Events under way that can be told of; more than can wait in line.
    private static let maximumOpen = 20_000

    private struct State: Sendable {
        var ignored: JournalRing
        var handled: JournalRing
        var core: JournalRing
        /// Events that came and are not done with, by inbox row: their ids, and when they came.
        var open: [Int64: (id: String, wrapper: String?, at: Int64)] = [:]
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
            case .handled, .failed: state.handled.add(entry)
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

    /// The newest events that a bot did not get, oldest first.
    package var ignored: [JournalEntry] { state.withLock { Array($0.ignored.newest) } }

    /// Everything about events whose inner or outer id begins like this, oldest first.
    package func entries(matching prefix: String) -> [JournalEntry] {
        state.withLock { state in
            [state.ignored, state.handled, state.core].flatMap { $0.newest.filter { $0.matches(prefix) } }
        }
        .sorted { $0.at < $1.at }
    }

    /// Events with such an id that came and are not done with.
    func open(matching prefix: String) -> [(id: String, at: Int64)] {
        state.withLock { state in
            state.open.values.filter { $0.id.hasPrefix(prefix) || $0.wrapper?.hasPrefix(prefix) == true }
                .map { ($0.id, $0.at) }
        }
    }

    // MARK: Storing

    /// Takes up what an earlier process has stored, then stores what is new, until the task is cancelled; once.
    package func run(with core: any HandlerCore, clock: any CoreClock) async {
        await restore(from: core)
        for await _ in changes {
            do { try await clock.sleep(untilMilliseconds: clock.nowMilliseconds + Self.storingInterval) } catch {
                break
            }
            store(in: core)
        }
        // What the last events before a shutdown had to say.
        store(in: core)
    }

    func restore(from core: any HandlerCore) async {
        for ring in [\State.ignored, \.handled, \.core] as [WritableKeyPath<State, JournalRing> & Sendable] {
            var blocks: [[UInt8]] = []
            for key in state.withLock({ $0[keyPath: ring].keys }) {
                // A store that cannot be read ends the core; here it only means that less can be told.
                if let block = try? await core.value(scope: Self.scope, key: key) { blocks.append(block) }
            }
            state.withLock { $0[keyPath: ring].restore(blocks) }
        }
    }

    private func store(in core: any HandlerCore) {
        let (blocks, number) = state.withLock { state in
            state.batches += 1
            return (
                state.ignored.takeUnstored() + state.handled.takeUnstored() + state.core.takeUnstored(), state.batches
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
