package import CallMedia
import CallWire
package import Logging
package import NetworkAddresses
import Nostr
package import PikaCore
import RelayClient

/// Carries call media over call relays: `ws://` and `wss://` URLs whose path ends in `/calls` (docs/calls.md).
package struct CallRelayTransport: CallMediaTransport {
    /// The maximum number of messages that wait for the socket: frames of two and a half seconds of audio.
    private static let queuedMessages = 128

    private let addresses: AddressGuard
    private let clock: any CoreClock
    private let logger: Logger

    /// - Parameter addresses: Decides whether to connect to the address of a relay that the other side names.
    package init(addresses: AddressGuard, clock: any CoreClock, logger: Logger) {
        self.addresses = addresses
        self.clock = clock
        self.logger = logger
    }

    /// Returns whether the transport supports an address.
    static func supports(_ url: RelayURL) -> Bool {
        url.path == CallWire.path || url.path.hasSuffix("/" + CallWire.path.dropFirst())
    }

    package func connect(to url: String) async throws -> any CallMediaConnection {
        guard let relay = try? RelayURL(url), Self.supports(relay) else {
            throw AppCoreError(
                .callMediaFailed,
                "no media transport supports \(url): expected a ws:// or wss:// URL whose path ends in /calls")
        }
        let reachesPrivate: Bool
        do throws(AddressRefusal) {
            reachesPrivate = try await self.addresses.allowedAddresses(of: relay.host, port: relay.port) == .anywhere
        } catch {
            throw AppCoreError(.callMediaFailed, "the call relay \(relay.host) cannot be used: \(error)")
        }
        return try CallRelayConnection(clock: self.clock) { owner in
            try self.socket(relay, reachesPrivate: reachesPrivate, owner)
        }
    }

    private func socket(
        _ relay: RelayURL, reachesPrivate: Bool, _ owner: CallSocketOwner
    ) throws -> any CallSocket {
        var configuration = TransportConfiguration()
        configuration.maximumMessageBytes = CallWire.maximumMessage
        configuration.pingInterval = .seconds(10)
        configuration.deadPeerTimeout = .seconds(25)
        configuration.backoff = Backoff(base: .milliseconds(250), cap: .seconds(4), provenCap: .seconds(4))
        let connection = try MessageConnection(
            MessageConnection<CallCodec>.Endpoint(relay, reachesPrivateAddresses: reachesPrivate), codec: CallCodec(),
            queue: (Self.queuedMessages, 2 * CallWire.maximumMessage), configuration: configuration,
            consumer: MessageConnection<CallCodec>.Consumer(
                onConnect: { owner.greeting() }, onMessage: { owner.receive($0) }, onState: owner.changed),
            logger: self.logger)
        return RelaySocket(connection: connection)
    }
}

private struct RelaySocket: CallSocket {
    let connection: MessageConnection<CallCodec>

    func run() async { await self.connection.run() }
    func send(_ message: CallClientMessage) async -> Bool { await self.connection.send(message) }
    func stop() async { await self.connection.stop() }
}
