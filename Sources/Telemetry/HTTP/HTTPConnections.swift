import NIOCore
import NIOHTTP1
import Synchronization

/// The open connections of an endpoint, and their requests.
final class HTTPConnections: Sendable {
    typealias Arrival = (channel: any Channel, request: IncomingRequest)

    let arrivals: AsyncStream<Arrival>
    private let nextArrival: AsyncStream<Arrival>.Continuation
    private let limits: HTTPLimits
    private let open = Mutex<[ObjectIdentifier: any Channel]>([:])

    init(_ limits: HTTPLimits) {
        self.limits = limits
        (arrivals, nextArrival) = AsyncStream.makeStream()
    }

    /// Registers an accepted connection; throws above the limit, which closes the connection.
    func add(_ channel: any Channel) throws {
        let isAdmitted = open.withLock { open in
            guard open.count < limits.connections else { return false }
            open[ObjectIdentifier(channel)] = channel
            return true
        }
        guard isAdmitted else { throw ChannelError.ioOnClosedChannel }
        channel.closeFuture.whenComplete { [self] _ in
            _ = open.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        try channel.pipeline.syncOperations.addHandlers([
            HTTPRequestLimit(bytes: limits.requestBytes),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
            IncomingRequestReader(time: TimeAmount(limits.requestTime)) { [nextArrival] in nextArrival.yield(($0, $1))
            },
        ])
    }

    func closeAll() {
        for channel in open.withLock({ Array($0.values) }) { channel.close(promise: nil) }
    }
}
