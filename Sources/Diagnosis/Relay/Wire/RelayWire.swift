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
    private let frames: AsyncStream<WebSocketFrame>
    private nonisolated let outbox: AsyncStream<WebSocketFrame>.Continuation
    nonisolated let received = UpdateLog<Incoming>()
    /// The last login event sent.
    private(set) var loginID: EventID?
    private(set) var tally = WireTally()
    private var isServed = false
    private var lastSubscription = 0
    private var open: [String: [Filter]] = [:]

    init(_ channel: WebSocketChannel, relay: RelayURL, login: @escaping RelayPool.Signer) {
        (self.channel, self.relay, self.login) = (channel, relay, login)
        (frames, outbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(WireLimits.waitingFrames))
    }

    /// Reads and writes until the relay closes the connection, ``close()`` is called, or the task is cancelled.
    @concurrent
    nonisolated func serve() async {
        guard await begin() else { return }
        var reason = "the connection is closed"
        do {
            reason = try await channel.executeThenClose { inbound, outbound in
                await withTaskGroup(of: String?.self) { group in
                    group.addTask { await self.read(inbound) }
                    group.addTask { await self.write(outbound) }
                    let first = await group.next() ?? nil
                    group.cancelAll()
                    return first ?? "the connection is closed"
                }
            }
        } catch {
            reason = Disconnection(reading: error).text
        }
        outbox.finish()
        await received.add(.ended(reason))
    }

    /// Closes a connection that was never served, for example after the probe was cancelled. Otherwise does nothing.
    nonisolated func discard() async {
        guard await begin() else { return }
        // Nobody waits for the result.
        try? await channel.executeThenClose { _, _ in }
    }

    private func begin() -> Bool {
        defer { isServed = true }
        return !isServed
    }

    /// Closes the connection after the queued messages are sent.
    nonisolated func close() {
        send(.connectionClose, ByteBuffer(bytes: [0x03, 0xe8]))
        outbox.finish()
    }

    nonisolated func send(_ message: ClientMessage) { send(.text, ByteBuffer(bytes: message.json())) }

    private nonisolated func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        outbox.yield(WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data))
    }

    private nonisolated func write(_ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>) async -> String? {
        do {
            for await frame in frames { try await outbound.write(frame) }
            return nil
        } catch {
            return "writing failed"
        }
    }

    private nonisolated func read(_ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>) async -> String? {
        do {
            for try await frame in inbound {
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
