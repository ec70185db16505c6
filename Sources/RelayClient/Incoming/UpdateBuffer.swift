import PikaCore
import Synchronization

/// Buffer of updates for the one consumer, bounded in number and bytes.
///
/// When it is full, connections wait in ``send(_:bytes:)`` and thereby stop reading from their sockets: TCP flow
/// control applies back-pressure to the relays, and nothing is dropped. A relay that disconnects meanwhile is asked
/// again for the rest, from the subscription's position. State changes do not wait, because they would delay timers;
/// while the consumer lags, only the newest of each relay is kept.
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
        /// Present while everything before was consumed and the consumer waits.
        var consumer: CheckedContinuation<RelayUpdate?, Never>?
        var receiver: (@Sendable (RelayUpdate) -> Bool)?
        /// Whether senders no longer wait; their updates are dropped.
        var isReleased = false
        var isFinished = false
    }

    private let maximumItems: Int
    private let maximumBytes: Int
    private let state = Mutex(State())

    init(maximumItems: Int, maximumBytes: Int) {
        self.maximumItems = maximumItems
        self.maximumBytes = maximumBytes
    }

    /// The updates in order. Cancelling the consumer's task ends the sequence.
    var updates: AsyncStream<RelayUpdate> {
        AsyncStream { await self.next() }
    }

    /// Offers updates to a receiver before the consumer (``PikaCore/RelayTransport/offerUpdates(to:)``).
    func offer(to receiver: @escaping @Sendable (RelayUpdate) -> Bool) {
        state.withLock { $0.receiver = receiver }
    }

    // MARK: Input

    /// Appends the update if there is room; returns false if the sender has to wait.
    func offer(_ update: RelayUpdate, bytes: Int) -> Bool {
        let (isAccepted, consumer) = state.withLock { state -> (Bool, CheckedContinuation<RelayUpdate?, Never>?) in
            if state.isReleased { return (true, nil) }
            guard state.senders.isEmpty, hasRoom(state) else { return (false, nil) }
            if state.consumer != nil, state.receiver?(update) == true { return (true, nil) }
            return (true, Self.append(Item(update: update, bytes: bytes), &state))
        }
        consumer?.resume(returning: update)
        return isAccepted
    }

    /// Waits for room and appends the update. Not cancellable: an update in flight counts as delivered.
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

    /// Appends a state change at once; while the consumer lags, it replaces an older one of the same relay.
    func push(_ update: RelayUpdate) {
        let consumer = state.withLock { state -> CheckedContinuation<RelayUpdate?, Never>? in
            guard !state.isFinished else { return nil }
            if !hasRoom(state) { state.items.removeAll { Self.isState($0.update, sameRelayAs: update) } }
            return Self.append(Item(update: update, bytes: 0), &state)
        }
        consumer?.resume(returning: update)
    }

    /// Resumes all waiting senders; from now on only state changes are accepted.
    func release() {
        let senders = state.withLock { state in
            state.isReleased = true
            return state.senders.drain()
        }
        for sender in senders { sender.continuation.resume() }
    }

    /// Ends the sequence after the buffered updates.
    func finish() {
        release()
        let consumer = state.withLock { state in
            state.isFinished = true
            return state.consumer.take()
        }
        consumer?.resume(returning: nil)
    }

    // MARK: Output

    private func next() async -> RelayUpdate? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, sender) = state.withLock { dequeue(&$0, for: continuation) }
                sender?.resume()
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let consumer = state.withLock { $0.consumer.take() }
            consumer?.resume(returning: nil)
        }
    }

    /// Returns the next update, or nil if the consumer has to wait, and the sender to resume.
    private func dequeue(
        _ state: inout State, for consumer: CheckedContinuation<RelayUpdate?, Never>
    ) -> (answer: RelayUpdate??, sender: CheckedContinuation<Void, Never>?) {
        guard let item = state.items.popFirst() else {
            guard !state.isFinished, !Task.isCancelled else { return (.some(nil), nil) }
            precondition(state.consumer == nil, "the updates of a transport allow only one consumer")
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
        state.items.count < maximumItems && state.bytes < maximumBytes
    }

    /// Appends the item; if the consumer waits, returns its continuation to resume with the item.
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
