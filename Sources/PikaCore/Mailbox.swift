import Synchronization

/// The core's input queue: many senders; the core alone receives, in order and in batches.
///
/// Of relays' updates it holds only the next batch, bounded in number and bytes: further ones wait in the transport's
/// buffer, which applies back-pressure to the relays.
final class Mailbox: Sendable {
    private struct Entry {
        let input: CoreInput
        /// Bytes of a relay's update; nil for other inputs.
        var updateBytes: Int?
    }

    private struct State {
        var inputs: [Entry] = []
        /// The relays' updates among the inputs.
        var updates = (count: 0, bytes: 0)
        /// Whether there is an input besides those that wait for the next one.
        var isDue = false
        var isProcessing = false
        /// Whether the wait of ``receiveUntilWaitEnds(limit:)`` is over.
        var isWaitOver = false
        var isClosed = false
        var isFinishing = false

        var takesInputs: Bool { !self.isClosed && !self.isFinishing }

        var receiver: CheckedContinuation<Void, Never>?
        var senders: [CheckedContinuation<Void, Never>] = []
        var updateSenders: [CheckedContinuation<Void, Never>] = []

        /// Removes and returns the next inputs, at most `limit`.
        mutating func removeFirst(_ limit: Int) -> [CoreInput] {
            var entries: [Entry] = []
            if self.inputs.count <= limit {
                swap(&entries, &self.inputs)
                self.isDue = false
            } else {
                entries = Array(self.inputs.prefix(limit))
                self.inputs.removeFirst(limit)
            }
            for case let bytes? in entries.lazy.map(\.updateBytes) {
                self.updates.count -= 1
                self.updates.bytes -= bytes
            }
            return entries.map(\.input)
        }

        var hasRoom: Bool { self.inputs.count < Mailbox.highWater }
        var hasRoomForUpdates: Bool {
            self.hasRoom && self.updates.count < Mailbox.batch && self.updates.bytes < Mailbox.highWaterBytes
        }
    }

    /// Maximum number of inputs of one turn of the core.
    static let batch = 128

    private let state = Mutex(State())
    /// Back-pressure: ``sendWhenRoom(_:)`` suspends while the queue has at least this many inputs.
    private static let highWater = 1024
    /// Bound on the bytes of relays' updates; exceeded by at most one update.
    private static let highWaterBytes = 1 << 20

    /// Enqueues and returns at once.
    func send(_ input: CoreInput) {
        let receiver = self.state.withLock { state in
            guard state.takesInputs else { return nil as CheckedContinuation<Void, Never>? }
            state.inputs.append(Entry(input: input))
            state.isDue = true
            return state.receiver.take()
        }
        receiver?.resume()
    }

    /// Enqueues an input that can wait for the next one: the core is not resumed.
    func enqueue(_ input: CoreInput) {
        self.state.withLock { state in
            if state.takesInputs { state.inputs.append(Entry(input: input)) }
        }
    }

    /// Enqueues a relay's update, after suspending while a full batch of them is queued.
    func deliver(_ update: RelayUpdate) async {
        while !self.offer(update) {
            await withCheckedContinuation { continuation in
                let isRoom = self.state.withLock { state in
                    if !state.takesInputs || state.hasRoomForUpdates { return true }
                    state.updateSenders.append(continuation)
                    return false
                }
                if isRoom { continuation.resume() }
            }
        }
    }

    /// Enqueues a relay's update if there is room; returns false if the sender has to wait.
    func offer(_ update: RelayUpdate) -> Bool {
        let bytes = update.bytes
        let (isAccepted, receiver) = self.state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.takesInputs else { return (true, nil) }
            guard state.hasRoomForUpdates else { return (false, nil) }
            state.inputs.append(Entry(input: .relay(update), updateBytes: bytes))
            state.updates.count += 1
            state.updates.bytes += bytes
            state.isDue = true
            return (true, state.receiver.take())
        }
        receiver?.resume()
        return isAccepted
    }

    /// Enqueues an input, after suspending while the queue is long.
    func sendWhenRoom(_ input: CoreInput) async {
        await withCheckedContinuation { continuation in
            let isRoom = self.state.withLock { state in
                if !state.takesInputs || state.hasRoom { return true }
                state.senders.append(continuation)
                return false
            }
            if isRoom { continuation.resume() }
        }
        self.send(input)
    }

    /// Waits for inputs and returns the next ones, at most `limit`; nil once closed.
    func receive(limit: Int) async -> [CoreInput]? {
        self.state.withLock { state in
            state.isProcessing = false
            state.isWaitOver = false
        }
        while true {
            if let batch = self.next(limit: limit) { return batch }
            if self.state.withLock({ $0.isClosed || $0.isFinishing && $0.inputs.isEmpty }) { return nil }
            await self.wait()
        }
    }

    /// Begins a wait of ``receiveUntilWaitEnds(limit:)``.
    func beginWait() { self.state.withLock { $0.isWaitOver = false } }

    /// As ``receive(limit:)``, but returns nil, too, when no input is queued and ``endWait()`` has been called since
    /// ``beginWait()``.
    func receiveUntilWaitEnds(limit: Int) async -> [CoreInput]? {
        while true {
            if let batch = self.next(limit: limit) { return batch }
            if self.state.withLock({ $0.isWaitOver || !$0.takesInputs }) { return nil }
            await self.wait()
        }
    }

    /// Ends a wait, which may not have begun yet.
    func endWait() {
        let receiver = self.state.withLock { state in
            state.isWaitOver = true
            return state.receiver.take()
        }
        receiver?.resume()
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = self.state.withLock { state in
                if !state.takesInputs || state.isDue || state.isWaitOver { return true }
                state.receiver = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Returns the next inputs without waiting, at most `limit`; nil if there are none, or once closed.
    private func next(limit: Int) -> [CoreInput]? {
        let (batch, senders) = self.state.withLock { state -> ([CoreInput]?, [CheckedContinuation<Void, Never>]) in
            guard !state.isClosed, state.isDue || state.isFinishing, !state.inputs.isEmpty else { return (nil, []) }
            let batch = state.removeFirst(limit)
            state.isProcessing = true
            var senders: [CheckedContinuation<Void, Never>] = []
            if state.hasRoom { swap(&senders, &state.senders) }
            if state.hasRoomForUpdates {
                senders += state.updateSenders
                state.updateSenders = []
            }
            return (batch, senders)
        }
        for sender in senders { sender.resume() }
        return batch
    }

    /// Refuses new inputs; ``receive(limit:)`` ends after the queued ones.
    func finish() { self.release { $0.isFinishing = true } }

    /// Ends ``receive(limit:)`` and resumes all suspended senders.
    func close() { self.release { $0.isClosed = true } }

    private func release(_ change: (inout State) -> Void) {
        let (receiver, senders) = self.state.withLock { state in
            change(&state)
            defer {
                state.receiver = nil
                state.senders = []
                state.updateSenders = []
            }
            return (state.receiver, state.senders + state.updateSenders)
        }
        receiver?.resume()
        for sender in senders { sender.resume() }
    }

    /// Whether nothing is queued and nothing is being processed.
    var isIdle: Bool { self.state.withLock { $0.inputs.isEmpty && !$0.isProcessing } }
}

extension RelayUpdate {
    /// The approximate size in memory of the parts that the relay chooses.
    fileprivate var bytes: Int {
        switch self {
        case .event(_, _, let event): event.parkedBytes
        case .closed(_, _, let message): message.utf8.count
        case .refused(_, let reason): reason.utf8.count
        case .endOfStoredEvents, .state, .clock: 0
        }
    }
}
