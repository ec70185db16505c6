import NIOCore
import NIOWebSocket
import Nostr
import RelayClient

/// One WebSocket to a relay without a client's logic: no paging, no retries, no filtering of events. Answers login
/// challenges.
///
/// ``serve()`` must run as long as it is used.
actor RelayWire {
    /// Incoming messages, in order.
    enum Incoming: Sendable {
        case message(RelayMessage)
        /// The connection ended, with the reason.
        case ended(String)
    }

    private let channel: WebSocketChannel
    private let relay: RelayURL
    private let login: RelayPool.Signer
    nonisolated let received = UpdateLog<Incoming>()
    /// The last login event sent.
    private(set) var loginID: EventID?
    private(set) var tally = WireTally()
    private var isServed = false
    private var lastSubscription = 0
    private var open: [String: [Filter]] = [:]

    init(_ channel: WebSocketChannel, relay: RelayURL, login: @escaping RelayPool.Signer) {
        (self.channel, self.relay, self.login) = (channel, relay, login)
    }

    /// Reads and writes until the relay closes the connection, ``close()`` is called, or the task is cancelled.
    @concurrent
    nonisolated func serve() async {
        guard await begin() else { return }
        let reason = await read()
        await channel.close()
        await received.add(.ended(reason))
    }

    /// Closes a connection that was never served, for example after the probe was cancelled. Otherwise does nothing.
    nonisolated func discard() async {
        guard await begin() else { return }
        await channel.close()
    }

    private func begin() -> Bool {
        defer { isServed = true }
        return !isServed
    }

    /// Closes the connection after the queued messages are sent.
    nonisolated func close() {
        channel.finish(.normalClosure)
    }

    nonisolated func send(_ message: ClientMessage) { send(.text, ByteBuffer(bytes: message.json())) }

    private nonisolated func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        // A relay that does not read loses what exceeds the limit.
        _ = channel.enqueue(opcode, data, limit: WireLimits.waitingFrames)
    }

    private nonisolated func read() async -> String {
        do {
            while let frame = try await channel.next() {
                switch frame.opcode {
                case .text: await receive(Array(frame.data.readableBytesView))
                case .ping: send(.pong, frame.data)
                case .pong: break
                case .connectionClose: return "the relay closed the connection"
                default: await receiveGarbage(bytes: frame.data.readableBytes)
                }
                guard await tally.isWithinLimits else { return "the relay exceeded the message limit of the probe" }
            }
            return "the relay closed the connection"
        } catch {
            return Disconnection(reading: error).text
        }
    }
}

// MARK: Incoming messages

extension RelayWire {
    private func receiveGarbage(bytes: Int) { tally.countGarbage(bytes: bytes) }

    private func receive(_ json: [UInt8]) async {
        guard let message = try? RelayMessage(json: json) else { return tally.countGarbage(bytes: json.count) }
        tally.count(bytes: json.count)
        switch message {
        case .event(let subscription, let event):
            guard (try? event.verify()) != nil else { return tally.countInvalid() }
            // Events in flight when a query was closed are legitimate.
            if let filters = open[subscription], !filters.contains(where: { $0.matches(event) }) {
                tally.countUnasked()
            }
        // Answer before the challenge is announced, so that a waiting task finds the login sent.
        case .authentication(let challenge): await answer(challenge)
        case .ok, .endOfStoredEvents, .closed, .notice, .count: break
        }
        await received.add(.message(message))
    }

    private func answer(_ challenge: String) async {
        guard let event = await login(challenge, relay) else { return }
        loginID = event.id
        send(.authenticate(event))
    }

    /// Starts a query; returns its id.
    func begin(_ filters: [Filter]) -> String {
        lastSubscription += 1
        let id = "pikabot-probe-\(lastSubscription)"
        open[id] = filters
        send(.request(subscription: id, filters: filters))
        return id
    }

    func end(_ subscription: String) {
        guard open.removeValue(forKey: subscription) != nil else { return }
        send(.close(subscription: subscription))
    }
}
