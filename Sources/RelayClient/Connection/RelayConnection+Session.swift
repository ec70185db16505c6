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
    func hold(session: Int) async { sessionEnded(session, await runSession(session)) }

    private func runSession(_ session: Int) async -> Disconnection {
        let reportedTime = ReportedTime()
        let channel: WebSocketChannel
        do {
            channel = try await attemptConnection {
                reportedTime.set($0.seconds(since: self.environment.clock.now.unixTime))
            }
        } catch {
            return Disconnection(connecting: error)
        }
        guard sessionBegan(session, channel) else {
            await channel.close()
            return Disconnection(.goodbye, "cancelled")
        }
        if let offset = reportedTime.offset { await deliver(.clock(relay: relay, offset: offset), bytes: 0) }
        let reason = await read(channel, session)
        answerClose(reason)
        await channel.close()
        return reason
    }

    /// Connects, unless the session is aborted meanwhile.
    private func attemptConnection(
        onDate: @escaping @Sendable (UnixTime) -> Void
    ) async throws -> WebSocketChannel {
        let (aborts, abort) = AsyncStream<Never>.makeStream()
        attemptMayBeAborted(abort)
        return try await withThrowingTaskGroup(of: WebSocketChannel?.self) { group in
            group.addTask { try await self.connect(onDate: onDate) }
            group.addTask {
                for await _ in aborts {}
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            let second = try await group.next() ?? nil
            guard let channel = first ?? second else { throw CancellationError() }
            return channel
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

    /// Answers a close frame with one (RFC 6455 section 5.5.1), unless this side has sent one. An oversize message is
    /// closed with its own code.
    private func answerClose(_ reason: Disconnection) {
        switch reason.reason {
        case .closed: writeClose(.normalClosure)
        case .oversize: writeClose(.messageTooLarge)
        case .protocolError: writeClose(.protocolError)
        case .unreachable, .notAllowed, .tls, .upgrade, .silent, .stalled, .flooded, .failed, .goodbye: break
        }
    }
}

// MARK: Reading

extension RelayConnection {
    /// Number of frames after which other inputs of the connection have their turn.
    private static let framesPerTurn = 16

    private enum Reception {
        case updates([RelayUpdate], bytes: Int)
        case end(Disconnection)
    }

    private func read(_ channel: WebSocketChannel, _ session: Int) async -> Disconnection {
        var frames = 0
        do {
            while let frame = try await channel.next() {
                switch receive(frame, session) {
                case .updates(let updates, let bytes):
                    for update in updates { await deliver(update, bytes: bytes) }
                case .end(let reason): return reason
                }
                frames += 1
                if frames.isMultiple(of: Self.framesPerTurn) { await Task.yield() }
            }
            return Disconnection(.closed, "the relay closed the connection")
        } catch {
            return Disconnection(reading: error)
        }
    }

    // Not inlined into the reading task, as `MessageVerifier.read`.
    @inline(never)
    private func receive(_ frame: WebSocketFrame, _ session: Int) -> Reception {
        // RFC 6455 section 5.1.
        guard frame.maskKey == nil else { return .end(Disconnection(.protocolError, "unexpected masked frame")) }
        switch frame.opcode {
        case .text: return receive(Array(frame.data.readableBytesView), session)
        case .binary: return refuse(.binaryFrame)
        case .ping: pong(frame.data, session: session)
        case .pong: noteTraffic()
        case .connectionClose: return .end(Disconnection(.closed, Self.describe(of: frame.data)))
        default: return .end(Disconnection(.protocolError, "unknown frame type"))
        }
        return .updates([], bytes: 0)
    }

    private func receive(_ json: [UInt8], _ session: Int) -> Reception {
        environment.metrics.countReceived()
        switch environment.verifier.read(json, from: relay) {
        case .success(let message):
            if case .notice(let text) = message {
                environment.logger.debug(
                    "Relay sent a notice",
                    metadata: ["relay": .string(relay.string), "text": .string(String(text.prefix(256)))])
            }
            return .updates(received(message, bytes: json.count, session: session), bytes: json.count)
        case .failure(let refused): return refuse(refused.reason)
        }
    }

    private func refuse(_ reason: RefusalReason) -> Reception {
        noteTraffic()
        return .updates([.refused(relay: relay, reason: reason.rawValue)], bytes: 0)
    }

    /// Hands an update to its consumer; while there is no room, nothing is read.
    func deliver(_ update: RelayUpdate, bytes: Int) async {
        guard !offer(update, bytes: bytes) else { return }
        readingHeld()
        await environment.updates.send(update, bytes: bytes)
        readingResumed()
    }

    /// Returns false if the update has to wait.
    private func offer(_ update: RelayUpdate, bytes: Int) -> Bool {
        switch update {
        case .event(_, let subscription, let event):
            guard environment.delivered.isFirst(event.id, for: subscription) else {
                environment.metrics.countDuplicate()
                return true
            }
        case .refused, .endOfStoredEvents, .closed, .state, .clock: break
        }
        if environment.listeners.deliver(update) { return true }
        environment.observer?(update)
        return environment.updates.offer(update, bytes: bytes)
    }

    private static func describe(of close: ByteBuffer) -> String {
        var close = close
        guard let code = close.readWebSocketErrorCode() else { return "the relay closed the connection" }
        let text = String(buffer: close.getSlice(at: close.readerIndex, length: min(123, close.readableBytes)) ?? close)
        return "the relay closed the connection: \(UInt16(webSocketErrorCode: code))" + (text.isEmpty ? "" : " \(text)")
    }
}
