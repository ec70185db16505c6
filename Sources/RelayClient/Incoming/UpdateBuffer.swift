import PikaCore
import Synchronization

/// Updates on their way to the one consumer, bounded in number and bytes.
///
/// When it is full, connections wait in ``send(_:bytes:)`` and thereby stop reading from their sockets: TCP's flow
/// control makes the relays wait too, and nothing is dropped. A relay that loses patience is asked again for what it
/// had left, from where the subscription was. Changes of connection states do not wait, or timers would; of those that
/// a lagging consumer has not taken, the newest of each relay is kept.
final class UpdateBuffer: Sendable {
    private struct Item {
        let update: RelayUpdate
        let bytes: Int
    }

    private struct Waiting {
        let item: Item
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var items = Queue<Item>()
        var bytes = 0
        var senders = Queue<Waiting>()
        var consumer: CheckedContinuation<RelayUpdate?, Never>?
        /// Nothing waits any more; what would have to is dropped.
        var isReleased = false
        var isFinished = false
    }

    private let mostItems: Int
    private let mostBytes: Int
    private let state = Mutex(State())

    init(mostItems: Int, mostBytes: Int) {
        self.mostItems = mostItems
        self.mostBytes = mostBytes
    }

    /// The updates in order. Cancelling the consumer's task ends the sequence.
    var updates: AsyncStream<RelayUpdate> {
        AsyncStream { await self.next() }
    }

    // MARK: In

    /// Takes the update if there is room; false if the sender has to wait.
    func offer(_ update: RelayUpdate, bytes: Int) -> Bool {
        let (taken, consumer) = state.withLock { state -> (Bool, CheckedContinuation<RelayUpdate?, Never>?) in
            if state.isReleased { return (true, nil) }
            guard state.senders.isEmpty, hasRoom(state) else { return (false, nil) }
            return (true, Self.append(Item(update: update, bytes: bytes), &state))
        }
        consumer?.resume(returning: update)
        return taken
    }

    /// Waits until there is room. Not cancellable: an update on its way counts as delivered.
    func send(_ update: RelayUpdate, bytes: Int) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let item = Item(update: update, bytes: bytes)
            let (goesOn, consumer) = state.withLock { state -> (Bool, CheckedContinuation<RelayUpdate?, Never>?) in
                if state.isReleased { return (true, nil) }
                guard state.senders.isEmpty, hasRoom(state) else {
                    state.senders.append(Waiting(item: item, continuation: continuation))
                    return (false, nil)
                }
                return (true, Self.append(item, &state))
            }
            consumer?.resume(returning: update)
            if goesOn { continuation.resume() }
        }
    }

    /// Takes a change of state at once, in place of an older one of the same relay if the consumer lags.
    func push(_ update: RelayUpdate) {
        let consumer = state.withLock { state -> CheckedContinuation<RelayUpdate?, Never>? in
            guard !state.isFinished else { return nil }
            if !hasRoom(state) { state.items.removeAll { Self.isState($0.update, sameRelayAs: update) } }
            return Self.append(Item(update: update, bytes: 0), &state)
        }
        consumer?.resume(returning: update)
    }

    /// Lets all senders go on; from now on only changes of state are taken.
    func release() {
        let senders = state.withLock { state in
            state.isReleased = true
            return state.senders.takeAll()
        }
        for sender in senders { sender.continuation.resume() }
    }

    /// The consumer gets what is there, and then the end.
    func finish() {
        release()
        let consumer = state.withLock { state in
            state.isFinished = true
            return state.consumer.take()
        }
        consumer?.resume(returning: nil)
    }

    // MARK: Out

    private func next() async -> RelayUpdate? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, sender) = state.withLock { take(&$0, for: continuation) }
                sender?.resume()
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let consumer = state.withLock { $0.consumer.take() }
            consumer?.resume(returning: nil)
        }
    }

    /// The answer for the consumer, or nil if it has to wait; and the sender whose turn it is.
    private func take(
        _ state: inout State, for consumer: CheckedContinuation<RelayUpdate?, Never>
    ) -> (answer: RelayUpdate??, sender: CheckedContinuation<Void, Never>?) {
        guard let item = state.items.popFirst() else {
            guard !state.isFinished, !Task.isCancelled else { return (.some(nil), nil) }
            precondition(state.consumer == nil, "the updates of a transport have one consumer")
            state.consumer = consumer
            return (nil, nil)
        }
        state.bytes -= item.bytes
        guard hasRoom(state), let waiting = state.senders.popFirst() else { return (item.update, nil) }
        state.items.append(waiting.item)
        state.bytes += waiting.item.bytes
        return (item.update, waiting.continuation)
    }

    private func hasRoom(_ state: State) -> Bool {
        state.items.count < mostItems && state.bytes < mostBytes
    }

    /// Queues the item unless the consumer waits; then it is to be resumed with the item.
    private static func append(_ item: Item, _ state: inout State) -> CheckedContinuation<RelayUpdate?, Never>? {
        if let consumer = state.consumer.take() { return consumer }
        state.items.append(item)
        state.bytes += item.bytes
        return nil
    }

    private static func isState(_ update: RelayUpdate, sameRelayAs other: RelayUpdate) -> Bool {
        guard case .state(let relay, _) = update, case .state(let otherRelay, _) = other else { return false }
        return relay == otherRelay
    }
}
