import Synchronization

/// The core's input queue: many senders; the core alone receives, in order and in batches.
final class Mailbox: Sendable {
    private struct State {
        var inputs: [CoreInput] = []
        var isProcessing = false
        var isClosed = false
        var isFinishing = false

        var takesInputs: Bool { !self.isClosed && !self.isFinishing }

        var receiver: CheckedContinuation<Void, Never>?
        var senders: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// Back-pressure: ``sendWhenRoom(_:)`` suspends while the queue has at least this many inputs.
    private static let highWater = 1024

    /// Enqueues and returns at once.
    func send(_ input: CoreInput) {
        let receiver = self.state.withLock { state in
            guard state.takesInputs else { return nil as CheckedContinuation<Void, Never>? }
            state.inputs.append(input)
            defer { state.receiver = nil }
            return state.receiver
        }
        receiver?.resume()
    }

    /// Enqueues an input, after suspending while the queue is long.
    func sendWhenRoom(_ input: CoreInput) async {
        await withCheckedContinuation { continuation in
            let isRoom = self.state.withLock { state in
                if !state.takesInputs || state.inputs.count < Self.highWater { return true }
                state.senders.append(continuation)
                return false
            }
            if isRoom { continuation.resume() }
        }
        self.send(input)
    }

    /// Waits for inputs and returns the next ones, at most `limit`; nil once closed.
    func receive(limit: Int) async -> [CoreInput]? {
        while true {
            let (batch, senders) = self.dequeue(limit)
            for sender in senders { sender.resume() }
            if let batch { return batch.isEmpty ? nil : batch }
            await withCheckedContinuation { continuation in
                let isReady = self.state.withLock { state in
                    if !state.takesInputs || !state.inputs.isEmpty { return true }
                    state.receiver = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    /// Returns a batch; empty when closed; nil when the queue is empty.
    private func dequeue(_ limit: Int) -> ([CoreInput]?, [CheckedContinuation<Void, Never>]) {
        self.state.withLock { state in
            state.isProcessing = false
            if state.isClosed { return ([], []) }
            guard !state.inputs.isEmpty else { return (state.isFinishing ? [] : nil, []) }
            let batch = Array(state.inputs.prefix(limit))
            state.inputs.removeFirst(batch.count)
            state.isProcessing = true
            let senders = state.inputs.count < Self.highWater ? state.senders : []
            if !senders.isEmpty { state.senders = [] }
            return (batch, senders)
        }
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
            }
            return (state.receiver, state.senders)
        }
        receiver?.resume()
        for sender in senders { sender.resume() }
    }

    /// Whether nothing is queued and nothing is being processed.
    var isIdle: Bool { self.state.withLock { $0.inputs.isEmpty && !$0.isProcessing } }
}
