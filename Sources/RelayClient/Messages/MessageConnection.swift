package import Logging
import NIOCore
import NIOWebSocket
import NetworkAddresses
package import Nostr
package import PikaCore

/// A WebSocket connection for messages of any codec, made again when it is lost.
///
/// ``ConnectionLifecycle`` decides when to connect, retry and ping, as for relays. Reading waits for the consumer of
/// each message, so incoming messages need no queue: TCP slows the peer down. Every task is a child of ``run()``.
package actor MessageConnection<Codec: WebSocketCodec> {
    /// The address and its rules.
    package struct Endpoint: Sendable {
        package var url: RelayURL
        /// Whether the host may be this machine or in a private network.
        package var reachesPrivateAddresses: Bool
        /// Headers of the upgrade request, asked for before each attempt: a token may have changed.
        package var headers: @Sendable () async throws -> [(name: String, value: String)]

        package init(
            _ url: RelayURL, reachesPrivateAddresses: Bool = false,
            headers: @escaping @Sendable () async throws -> [(name: String, value: String)] = { [] }
        ) {
            self.url = url
            self.reachesPrivateAddresses = reachesPrivateAddresses
            self.headers = headers
        }
    }

    /// The consumer's side.
    package struct Consumer: Sendable {
        /// Returns the messages to send first after each connect, such as subscriptions.
        package var onConnect: @Sendable () async -> [Codec.Outgoing]
        /// Handles a message; the next one is read afterwards.
        package var onMessage: @Sendable (Codec.Incoming) async -> Void
        /// Learns each change of the state.
        package var onState: @Sendable (RelayConnectionState) -> Void

        package init(
            onConnect: @escaping @Sendable () async -> [Codec.Outgoing] = { [] },
            onMessage: @escaping @Sendable (Codec.Incoming) async -> Void,
            onState: @escaping @Sendable (RelayConnectionState) -> Void = { _ in }
        ) {
            self.onConnect = onConnect
            self.onMessage = onMessage
            self.onState = onState
        }
    }

    private enum Step: Sendable {
        case connect(session: Int)
        case schedule(ConnectionLifecycle.Timer, after: Duration)
        case finish
    }

    private let endpoint: Endpoint
    private let codec: Codec
    private let consumer: Consumer
    private let configuration: TransportConfiguration
    private let connector: WebSocketConnector
    private let clock: TransportClock
    private let logger: Logger
    private let steps: AsyncStream<Step>
    private let nextStep: AsyncStream<Step>.Continuation
    private var lifecycle: ConnectionLifecycle
    private var generator: SharedGenerator
    private var outgoing: OutgoingMessages
    /// Control frames of the current session; of several pings of the peer only the last is answered.
    private var ping = false
    private var pong: ByteBuffer?
    private var closes = false
    private var wake: AsyncStream<Void>.Continuation?
    private var abort: AsyncStream<Never>.Continuation?
    package private(set) var state = RelayConnectionState.disconnected

    /// - Parameter queue: The most messages that wait for the socket, and their size in bytes.
    package init(
        _ endpoint: Endpoint, codec: Codec, queue: (count: Int, bytes: Int) = (256, 1 << 20),
        configuration: TransportConfiguration = TransportConfiguration(),
        clock: some Clock<Duration> = ContinuousClock(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(), consumer: Consumer,
        logger: Logger
    ) throws(TransportError) {
        try configuration.validate()
        let shared = SharedGenerator(generator)
        self.endpoint = endpoint
        self.codec = codec
        self.consumer = consumer
        self.configuration = configuration
        connector = try WebSocketConnector(configuration, generator: shared)
        self.clock = TransportClock(clock, unixTime: { UnixTime.systemTime })
        self.logger = logger
        lifecycle = ConnectionLifecycle(configuration)
        self.generator = shared
        outgoing = OutgoingMessages(maximumCount: queue.count, maximumBytes: queue.bytes)
        (steps, nextStep) = AsyncStream.makeStream()
    }

    /// Stays connected until ``stop()`` or cancellation, which closes the socket at once. May be called once.
    package func run() async {
        perform(lifecycle.connectIfIdle())
        await withDiscardingTaskGroup { group in
            for await step in steps {
                switch step {
                case .connect(let session): group.addTask { await self.hold(session) }
                case .schedule(let timer, let wait): group.addTask { await self.wait(for: timer, wait) }
                case .finish: nextStep.finish()
                }
            }
            group.cancelAll()
        }
        perform(lifecycle.stop())
    }

    /// Closes the connection with a handshake; ``run()`` then returns.
    package func stop() { perform(lifecycle.stop()) }

    /// Ends the wait for the next attempt.
    package func retryNow() { perform(lifecycle.retryNow()) }

    /// Queues a message, also while there is no connection; returns false if the queue is full.
    package func send(_ message: Codec.Outgoing) -> Bool {
        guard outgoing.append(codec.encode(message)) else { return false }
        if let steps = lifecycle.connectSoon(now: clock.now.elapsed) { perform(steps) }
        wake?.yield()
        return true
    }

    // MARK: Steps of the lifecycle

    private func perform(_ steps: [ConnectionLifecycle.Step]) {
        for step in steps {
            switch step {
            case .connect(let session): nextStep.yield(.connect(session: session))
            case .schedule(let timer, let wait): nextStep.yield(.schedule(timer, after: wait))
            case .ping:
                ping = true
                wake?.yield()
            case .disconnect(_, let handshake):
                if handshake, let wake {
                    closes = true
                    wake.yield()
                } else {
                    abort?.finish()
                }
            case .changed(let state):
                self.state = state
                consumer.onState(state)
            case .lost(let reason):
                logger.info("WebSocket connection lost", metadata: ["reason": .string(reason.text)])
            case .becameIdle: break
            case .finish: nextStep.yield(.finish)
            }
        }
    }

    private func wait(for timer: ConnectionLifecycle.Timer, _ duration: Duration) async {
        do { try await clock.sleep(duration) } catch { return }
        perform(lifecycle.elapsed(timer, isNeeded: true, now: clock.now.elapsed))
    }

    // MARK: Sessions

    private func hold(_ session: Int) async {
        let (aborts, abort) = AsyncStream<Never>.makeStream()
        self.abort = abort
        // A stop or a cancellation came first.
        if lifecycle.phase != .connecting { abort.finish() }
        let reason = await withTaskGroup(of: Disconnection?.self) { group in
            group.addTask { await self.runSession(session) }
            group.addTask {
                for await _ in aborts {}
                return nil
            }
            var reason: Disconnection?
            for await end in group {
                reason = reason ?? end
                group.cancelAll()
            }
            return reason ?? Disconnection(.goodbye, "cancelled")
        }
        self.abort = nil
        wake = nil
        (ping, pong) = (false, nil)
        outgoing.endSession()
        let hasQueued = !outgoing.isEmpty
        let steps = lifecycle.disconnected(
            session: session, reason, isNeeded: true, hasQueued: hasQueued, now: clock.now.elapsed, using: &generator)
        perform(steps ?? [])
    }

    @concurrent
    private nonisolated func runSession(_ session: Int) async -> Disconnection {
        let channel: WebSocketChannel
        do { channel = try await connect() } catch { return Disconnection(connecting: error) }
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let greeting = await consumer.onConnect()
        do {
            return try await channel.closing {
                if let failure = await self.began(session, greeting, wake) { return failure }
                return await withTaskGroup(of: Disconnection.self) { group in
                    group.addTask { await self.read(channel, session) }
                    group.addTask { await self.write(wakes, channel, session) }
                    var first: Disconnection?
                    for await end in group {
                        first = first ?? end
                        group.cancelAll()
                    }
                    return first ?? Disconnection(.goodbye, "cancelled")
                }
            }
        } catch {
            return Disconnection(reading: error)
        }
    }

    private nonisolated func connect() async throws -> WebSocketChannel {
        let url = endpoint.url
        let headers = try await endpoint.headers()
        let found = try await AddressGuard.checkedAddresses(
            url.host, reachesPrivate: endpoint.reachesPrivateAddresses, addresses: HostAddresses.of)
        var failure: any Error = AddressRefusal.unknownHost
        let candidates = found.prefix(4)
        for candidate in candidates {
            do {
                return try await connector.connect(
                    to: url, at: SocketAddress(ipAddress: candidate.text, port: url.port), sharing: candidates.count,
                    headers: headers)
            } catch {
                try Task.checkCancellation()
                failure = error
            }
        }
        throw failure
    }

    /// Begins a session; returns the reason to end it at once, if there is one.
    private func began(
        _ session: Int, _ greeting: [Codec.Outgoing], _ wake: AsyncStream<Void>.Continuation
    ) -> Disconnection? {
        guard let steps = lifecycle.connected(session: session, now: clock.now.elapsed) else {
            return Disconnection(.goodbye, "cancelled")
        }
        guard outgoing.greet(greeting.map { codec.encode($0) }) else {
            return Disconnection(.stalled, "the subscriptions exceed the queue")
        }
        self.wake = wake
        perform(steps)
        wake.yield()
        return nil
    }

    // MARK: Writing

    private nonisolated func write(
        _ wakes: AsyncStream<Void>, _ channel: WebSocketChannel, _ session: Int
    ) async -> Disconnection {
        do {
            for await _ in wakes {
                while let (opcode, data) = await nextFrame(session) {
                    try await channel.write(opcode, data)
                    guard opcode == .connectionClose else { continue }
                    try await clock.sleep(configuration.closeTimeout)
                    return Disconnection(.goodbye, "goodbye")
                }
            }
            return Disconnection(.goodbye, "goodbye")
        } catch {
            return Disconnection(.failed, "write failed: \(Disconnection.describe(error))")
        }
    }

    private func nextFrame(_ session: Int) -> (opcode: WebSocketOpcode, data: ByteBuffer)? {
        guard session == lifecycle.session else { return nil }
        if let data = pong {
            pong = nil
            return (.pong, data)
        }
        if ping {
            ping = false
            return (.ping, ByteBuffer())
        }
        if let message = outgoing.next() {
            switch message {
            case .text(let text): return (.text, ByteBuffer(string: text))
            case .binary(let bytes): return (.binary, ByteBuffer(bytes: bytes))
            }
        }
        guard closes else { return nil }
        closes = false
        return (.connectionClose, ByteBuffer(closing: .normalClosure))
    }

    // MARK: Reading

    @concurrent
    private nonisolated func read(_ channel: WebSocketChannel, _ session: Int) async -> Disconnection {
        do {
            while let frame = try await channel.next() {
                // RFC 6455 section 5.1.
                guard frame.maskKey == nil else { return Disconnection(.protocolError, "unexpected masked frame") }
                switch frame.opcode {
                case .text:
                    // RFC 6455 section 8.1.
                    guard let text = String(validating: frame.data.readableBytesView, as: UTF8.self) else {
                        return Disconnection(.protocolError, "a text message is not UTF-8")
                    }
                    await receive(.text(text))
                case .binary: await receive(.binary(Array(frame.data.readableBytesView)))
                case .ping: await answer(frame.data, session)
                case .pong: await noteTraffic()
                case .connectionClose: return Disconnection(.closed, "the server closed the connection")
                default: return Disconnection(.protocolError, "unknown frame type")
                }
            }
            return Disconnection(.closed, "the server closed the connection")
        } catch {
            return Disconnection(reading: error)
        }
    }

    private nonisolated func receive(_ message: WebSocketMessage) async {
        guard let message = codec.decode(message) else { return await noteTraffic() }
        await holdReading()
        await consumer.onMessage(message)
        await resumeReading()
    }

    private func noteTraffic() { lifecycle.noteTraffic(now: clock.now.elapsed) }

    private func holdReading() { lifecycle.readingHeld() }

    private func resumeReading() {
        lifecycle.answered()
        lifecycle.readingResumed(now: clock.now.elapsed)
    }

    private func answer(_ data: ByteBuffer, _ session: Int) {
        noteTraffic()
        guard session == lifecycle.session else { return }
        pong = data
        wake?.yield()
    }
}
