import Synchronization

/// The handlers that still run although they have been abandoned.
final class HangingHandlers: Sendable {
    /// The state of one handler.
    final class Slot: Sendable {
        private enum State {
            case running, ended
            case hanging(Int)
        }

        private let bot: String
        private let owner: HangingHandlers
        private let state = Mutex(State.running)

        fileprivate init(bot: String, owner: HangingHandlers) {
            self.bot = bot
            self.owner = owner
        }

        func ended() {
            let number: Int? = state.withLock { state in
                defer { state = .ended }
                if case .hanging(let number) = state { return number }
                return nil
            }
            if let number { owner.remove(number, of: bot) }
        }

        /// Records that the handler is abandoned.
        func abandoned(nowMilliseconds now: Int64) {
            state.withLock { state in
                guard case .running = state else { return }
                state = .hanging(owner.add(bot, now))
            }
        }
    }

    private struct State {
        /// Unix milliseconds when each handler was abandoned, by bot and number.
        var since: [String: [Int: Int64]] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    func slot(for bot: String) -> Slot { Slot(bot: bot, owner: self) }
    func count(of bot: String) -> Int { state.withLock { $0.since[bot]?.count ?? 0 } }

    /// Returns the number of handlers abandoned up to a time, by bot; bots without any are omitted.
    func counts(since time: Int64) -> [String: Int] {
        state.withLock { state in
            state.since.mapValues { handlers in handlers.values.count { $0 <= time } }.filter { $0.value > 0 }
        }
    }

    private func add(_ bot: String, _ now: Int64) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.since[bot, default: [:]][state.lastNumber] = now
            return state.lastNumber
        }
    }

    private func remove(_ number: Int, of bot: String) {
        state.withLock { _ = $0.since[bot]?.removeValue(forKey: number) }
        onEnd()
    }
}
