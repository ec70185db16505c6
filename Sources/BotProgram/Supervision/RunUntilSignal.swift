package import Logging
package import ServiceLifecycle
import UnixSignals

/// Runs services until SIGTERM, SIGINT or the end of one of them, then shuts them down in order.
package func runUntilSignal(_ services: [any Service], logger: Logger) async throws {
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
            services: services.map {
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup)
            }, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
}

/// Runs `body` until it ends, or a graceful shutdown cancels it, which is not an error.
package func untilShutdown(_ body: @escaping @Sendable () async throws -> Void) async throws {
    do {
        try await cancelWhenGracefulShutdown(body)
    } catch is CancellationError where Task.isShuttingDownGracefully {}
}
