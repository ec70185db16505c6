import CallWire
import PikaCore

/// A socket to a call relay, which reconnects by itself.
protocol CallSocket: Sendable {
    /// Stays connected until the task is cancelled or ``stop()`` is called.
    func run() async
    /// Queues a message; returns false if the queue is full.
    func send(_ message: CallClientMessage) async -> Bool
    /// Closes the socket with a handshake; ``run()`` then returns.
    func stop() async
}

/// The functions that a ``CallSocket`` calls, from any task.
struct CallSocketOwner: Sendable {
    /// Returns the messages to send first after each connect.
    let greeting: @Sendable () -> [CallClientMessage]
    let receive: @Sendable (CallRelayMessage) -> Void
    /// Learns each change of the connection's state.
    let changed: @Sendable (RelayConnectionState) -> Void
}
