import Nostr
import Synchronization

@testable import BotDispatch
@testable import PikaCore

/// The dispatcher's completion of one event.
struct Completion: Equatable {
    let inboxID: Int64
    let effects: [HandlerEffect]
}

/// Effects that the dispatcher performed without an event.
struct Performance: Equatable {
    let request: String
    let effects: [HandlerEffect]
}

/// A core with scripted answers; accepts completions without storing them.
final class ScriptedCore: HandlerCore {
    let account = key("a")
    let events: AsyncStream<CoreEvent>
    let state: AppState
    let newestInboxID: Int64
    /// The error thrown when values are read.
    private let failure: (any Error)?
    private let stored: Mutex<[String: [UInt8]]>
    private let nextEvent: AsyncStream<CoreEvent>.Continuation
    private let completions: AsyncStream<Completion>
    private let nextCompletion: AsyncStream<Completion>.Continuation
    private let performances: AsyncStream<Performance>
    private let nextPerformance: AsyncStream<Performance>.Continuation

    init(
        chats: [AppState.ChatSummary] = [], stored: [String: [UInt8]] = [:], newestInboxID: Int64 = 0,
        failure: (any Error)? = nil
    ) {
        self.newestInboxID = newestInboxID
        self.failure = failure
        var state = AppState()
        state.chatList = SharedArray(chats)
        self.state = state
        self.stored = Mutex(stored)
        (events, nextEvent) = AsyncStream.makeStream()
        (completions, nextCompletion) = AsyncStream.makeStream()
        (performances, nextPerformance) = AsyncStream.makeStream()
    }

    func snapshot() -> AppState { state }

    func complete(_ inboxID: Int64, effects: [HandlerEffect]) {
        nextCompletion.yield(Completion(inboxID: inboxID, effects: effects))
    }

    func started() async {}

    /// Stores values written by the runtime, but not those written by bots.
    func perform(_ effects: [HandlerEffect], request: RequestID) {
        for case .putValue(let scope, let key, let value) in effects.map(\.operation) {
            stored.withLock { $0["\(scope).\(key)"] = value }
        }
        nextPerformance.yield(Performance(request: request.rawValue, effects: effects))
    }

    var storedKeys: Set<String> { stored.withLock { Set($0.keys) } }

    func value(scope: String, key: String) async throws -> [UInt8]? {
        if let failure { throw failure }
        return stored.withLock { $0["\(scope).\(key)"] }
    }

    func media(chatID: ChatID, messageID: EventID, index: Int) async throws -> [UInt8] { [UInt8(index)] }

    func deliver(_ events: CoreEvent...) {
        for event in events { nextEvent.yield(event) }
    }

    /// Waits for the next `count` performed effects.
    func performed(_ count: Int) async -> [Performance] {
        var found: [Performance] = []
        for await performance in performances {
            found.append(performance)
            if found.count == count { break }
        }
        return found
    }

    /// Waits for the next `count` completions.
    func completed(_ count: Int) async -> [Completion] {
        var found: [Completion] = []
        for await completion in completions {
            found.append(completion)
            if found.count == count { break }
        }
        return found
    }
}

/// A manually advanced clock.
final class StandingClock: CoreClock {
    private struct State {
        var now: Int64
        var sleepers: [(until: Int64, continuation: AsyncStream<Never>.Continuation)] = []
    }

    private let state: Mutex<State>
    private let sleeping: AsyncStream<Void>
    private let fellAsleep: AsyncStream<Void>.Continuation

    init(milliseconds: Int64 = 1_700_000_000_000) {
        state = Mutex(State(now: milliseconds))
        (sleeping, fellAsleep) = AsyncStream.makeStream()
    }

    var nowMilliseconds: Int64 { state.withLock(\.now) }
    var monotonicMilliseconds: Int64 { nowMilliseconds }

    func sleep(untilMonotonicMilliseconds time: Int64) async throws {
        try await sleep(untilMilliseconds: time)
    }

    func sleep(untilMilliseconds time: Int64) async throws {
        let (end, reached) = AsyncStream.makeStream(of: Never.self)
        state.withLock { state in
            if state.now >= time { reached.finish() } else { state.sleepers.append((time, reached)) }
        }
        fellAsleep.yield()
        for await _ in end {}
        try Task.checkCancellation()
    }

    /// Waits for the next sleeper; each call waits for another one.
    func waitForSleeper() async {
        for await _ in sleeping { return }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += Int64(duration / .milliseconds(1))
            let due = state.sleepers.filter { $0.until <= state.now }
            state.sleepers.removeAll { $0.until <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.finish() }
    }
}

/// Opens once; any number of tasks can wait for it, and cancellation does not end the wait.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func passed() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
