import Appliance
import NIOCore
import NIOWebSocket
import Nostr
import Synchronization

/// The simulator's state, shared by its connections.
final class SimulatorHub: Sendable {
    private struct State {
        var cloud: SimulatedCloud
        var sockets: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>
    let now: @Sendable () -> UnixTime

    init(cloud: SimulatedCloud, now: @escaping @Sendable () -> UnixTime) {
        self.state = Mutex(State(cloud: cloud))
        self.now = now
    }

    var cloud: SimulatedCloud { self.state.withLock { $0.cloud } }

    /// Sets where the appliances listen in the local network.
    func setLocalAddress(_ address: String) { self.state.withLock { $0.cloud.localAddress = address } }

    func respond(_ request: SimulatedRequest) -> SimulatedResponse {
        let now = self.now()
        let response = self.state.withLock { state in
            var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
            return state.cloud.handle(request, now: now, using: &generator)
        }
        self.deliver()
        return response
    }

    func advance(milliseconds: Int64) {
        let now = self.now()
        self.state.withLock { $0.cloud.advance(milliseconds: milliseconds, now: now) }
        self.deliver()
    }

    // MARK: WebSockets

    func refusal(ofSocket request: SimulatedRequest) -> SimulatedResponse? {
        let now = self.now()
        return self.state.withLock { $0.cloud.refusal(ofSocket: request, now: now) }
    }

    /// Adds a WebSocket and sends its first events. Call on the channel's event loop, which also delivers later events, so
    /// that none is missing between.
    func join(_ channel: any Channel, after sequence: Int) {
        let now = self.now()
        let events = self.state.withLock { state in
            state.sockets[ObjectIdentifier(channel)] = channel
            state.cloud.socketCount = state.sockets.count
            return state.cloud.resume(after: sequence, now: now)
        }
        channel.closeFuture.whenComplete { _ in self.leave(channel) }
        for event in events { Self.send(event, to: channel) }
    }

    private func leave(_ channel: any Channel) {
        self.state.withLock { state in
            state.sockets[ObjectIdentifier(channel)] = nil
            state.cloud.socketCount = state.sockets.count
        }
    }

    /// Sends outside the lock: closing a channel on its event loop calls `leave` at once.
    private func deliver() {
        let (channels, events, dropsSockets) = self.state.withLock { state in
            let (events, dropsSockets) = state.cloud.drain()
            return (Array(state.sockets.values), events, dropsSockets)
        }
        for channel in channels {
            guard !dropsSockets else {
                channel.close(promise: nil)
                continue
            }
            for event in events { Self.send(event, to: channel) }
        }
    }

    /// Closes the connection of a client that does not read.
    private static func send(_ event: LiveEvent, to channel: any Channel) {
        guard let json = try? APICoding.encode(event) else { return }
        guard channel.isWritable else { return channel.close(promise: nil) }
        let frame = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: json))
        channel.writeAndFlush(frame, promise: nil)
    }
}
