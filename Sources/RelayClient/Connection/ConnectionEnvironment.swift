import Logging
import NetworkAddresses
import PikaCore

/// Dependencies that all connections of a pool share, behind one reference: tasks that use them keep only that.
final class ConnectionEnvironment: Sendable {
    let configuration: TransportConfiguration
    let connector: WebSocketConnector
    let clock: TransportClock
    let generator: SharedGenerator
    let verifier: MessageVerifier
    let delivered: DeliveredEvents
    let updates: UpdateBuffer
    let listeners = SideListeners()
    let metrics = TransportMetrics()
    let signer: RelayPool.Signer?
    let addresses: AddressGuard
    let observer: (@Sendable (RelayUpdate) -> Void)?
    let logger: Logger

    init(
        _ configuration: TransportConfiguration, connector: WebSocketConnector, clock: TransportClock,
        generator: SharedGenerator, verifier: MessageVerifier, signer: RelayPool.Signer?, addresses: AddressGuard,
        observer: (@Sendable (RelayUpdate) -> Void)?, logger: Logger
    ) {
        self.configuration = configuration
        self.connector = connector
        self.clock = clock
        self.generator = generator
        self.verifier = verifier
        self.signer = signer
        self.addresses = addresses
        self.observer = observer
        self.logger = logger
        delivered = DeliveredEvents(capacity: configuration.rememberedEvents)
        updates = UpdateBuffer(
            maximumItems: configuration.bufferedUpdates, maximumBytes: configuration.bufferedBytes)
    }
}
