import Logging
import NIOCore
import NIOWebSocket
import NetworkAddresses
import Nostr
import PikaCore
import Synchronization

/// The relay's clock, from the `Date` header of its upgrade response.
private final class ReportedTime: Sendable {
    private let value = Mutex<Int64?>(nil)

    /// The relay's clock minus this machine's, in seconds; nil without a `Date` header.
    var offset: Int64? { self.value.withLock { $0 } }

    func set(_ offset: Int64) { self.value.withLock { $0 = offset } }
}

/// One WebSocket session, from the connection attempt to its end.
extension RelayConnection {
    func hold(session: Int) async {
        let (aborts, abort) = AsyncStream<Never>.makeStream()
        sessionMayBeAborted(abort)
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
        sessionEnded(session, reason)
    }

    @concurrent
    private nonisolated func runSession(_ session: Int) async -> Disconnection {
        let channel: WebSocketChannel
        let reportedTime = ReportedTime()
        do {
            channel = try await connect { reportedTime.set($0.seconds(since: self.environment.clock.now.unixTime)) }
        } catch {
            return Disconnection(connecting: error)
        }
        // Room for everything that is sent again after a reconnect, and a margin.
        let most = environment.configuration.unansweredEvents + 4_096
        let (frames, outbox) = AsyncStream.makeStream(of: WebSocketFrame.self, bufferingPolicy: .bufferingOldest(most))
        do {
            return try await channel.executeThenClose { inbound, outbound in
                await self.sessionBegan(session, outbox: outbox)
                if let offset = reportedTime.offset {
                    await self.deliver(.clock(relay: self.relay, offset: offset), bytes: 0)
                }
                let reason = await self.readAndWrite(inbound, outbound, frames, session)
                await self.answerClose(reason, outbound)
                return reason
            }
        } catch {
            return Disconnection(reading: error)
        }
    }

    /// Maximum number of addresses of one relay that are tried, one after the other.
    private static let maximumAddresses = 4

    private nonisolated func connect(onDate: @escaping @Sendable (UnixTime) -> Void) async throws -> WebSocketChannel {
        let connector = environment.connector
        guard case .only(let found) = try await environment.addresses.allowedAddresses(of: relay.host, port: relay.port)
        else {
            return try await connector.connect(to: relay, onDate: onDate)
        }
        var failure: any Error = AddressRefusal.unknownHost
        let candidates = found.prefix(Self.maximumAddresses)
        for candidate in candidates {
            do {
                return try await connector.connect(
                    to: relay, at: SocketAddress(ipAddress: candidate.text, port: relay.port),
                    sharing: candidates.count,
                    onDate: onDate)
            } catch {
                try Task.checkCancellation()
                failure = error
            }
        }
        throw failure
    }

    private nonisolated func readAndWrite(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, _ frames: AsyncStream<WebSocketFrame>,
        _ session: Int
    ) async -> Disconnection {
        await withTaskGroup(of: Disconnection.self) { group in
            group.addTask { await self.read(inbound, session) }
            group.addTask { await self.write(frames, outbound) }
            var first: Disconnection?
            for await end in group {
                first = first ?? end
                group.cancelAll()
            }
            return first ?? Disconnection(.goodbye, "cancelled")
        }
    }

    /// Answers a close frame with one (RFC 6455 section 5.5.1). An oversize message is closed with its own code.
    private nonisolated func answerClose(
        _ reason: Disconnection, _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async {
        let code: WebSocketErrorCode
        switch reason.reason {
        case .closed: code = .normalClosure
        case .oversize: code = .messageTooLarge
        case .protocolError: code = .protocolError
        case .unreachable, .notAllowed, .tls, .upgrade, .silent, .stalled, .flooded, .failed, .goodbye: return
        }
        var generator = environment.generator
        let data = ByteBuffer(closing: code)
        // The peer may be gone already.
        try? await outbound.write(
            WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(using: &generator), data: data))
    }

    private nonisolated func write(
        _ frames: AsyncStream<WebSocketFrame>, _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async -> Disconnection {
        do {
            for await frame in frames {
                try await outbound.write(frame)
                guard frame.opcode == .connectionClose else { continue }
                try await environment.clock.sleep(environment.configuration.closeTimeout)
            }
            return Disconnection(.goodbye, "goodbye")
        } catch {
            return Disconnection(.failed, "write failed: \(Disconnection.describe(error))")
        }
    }
}

// MARK: Reading

extension RelayConnection {
    @concurrent
    private nonisolated func read(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>, _ session: Int
    ) async -> Disconnection {
        do {
            for try await frame in inbound {
                if let end = await receive(frame, session) { return end }
            }
            return Disconnection(.closed, "the relay closed the connection")
        } catch {
            return Disconnection(reading: error)
        }
    }

    /// - Returns: The reason to stop reading, if there is one.
    private nonisolated func receive(_ frame: WebSocketFrame, _ session: Int) async -> Disconnection? {
        // RFC 6455 section 5.1.
        guard frame.maskKey == nil else { return Disconnection(.protocolError, "unexpected masked frame") }
        switch frame.opcode {
        case .text: await receive(Array(frame.data.readableBytesView), session)
        case .binary: await refuse(.binaryFrame)
        case .ping: await pong(frame.data, session: session)
        case .pong: await noteTraffic()
        case .connectionClose: return Disconnection(.closed, Self.describe(of: frame.data))
        default: return Disconnection(.protocolError, "unknown frame type")
        }
        return nil
    }

    private nonisolated func receive(_ json: [UInt8], _ session: Int) async {
        environment.metrics.countReceived()
        switch environment.verifier.read(json, from: relay) {
        case .success(let message):
            if case .notice(let text) = message {
                environment.logger.debug(
                    "Relay sent a notice",
                    metadata: ["relay": .string(relay.string), "text": .string(String(text.prefix(256)))])
            }
            for update in await received(message, bytes: json.count, session: session) {
                await deliver(update, bytes: json.count)
            }
        case .failure(let refused): await refuse(refused.reason)
        }
    }

    private nonisolated func refuse(_ reason: RefusalReason) async {
        await noteTraffic()
        await deliver(.refused(relay: relay, reason: reason.rawValue), bytes: 0)
    }

    nonisolated func deliver(_ update: RelayUpdate, bytes: Int) async {
        switch update {
        case .event(_, let subscription, let event):
            guard environment.delivered.isFirst(event.id, for: subscription) else {
                environment.metrics.countDuplicate()
                return
            }
        case .refused, .endOfStoredEvents, .closed, .state, .clock: break
        }
        if environment.listeners.deliver(update) { return }
        environment.observer?(update)
        guard !environment.updates.offer(update, bytes: bytes) else { return }
        await readingHeld()
        await environment.updates.send(update, bytes: bytes)
        await readingResumed()
    }

    private static func describe(of close: ByteBuffer) -> String {
        var close = close
        guard let code = close.readWebSocketErrorCode() else { return "the relay closed the connection" }
        let text = String(buffer: close.getSlice(at: close.readerIndex, length: min(123, close.readableBytes)) ?? close)
        return "the relay closed the connection: \(UInt16(webSocketErrorCode: code))" + (text.isEmpty ? "" : " \(text)")
    }
}
