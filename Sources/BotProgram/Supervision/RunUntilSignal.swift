package import Logging
package import ServiceLifecycle
import UnixSignals

/// Runs services until SIGTERM or SIGINT, then shuts them down in order; a service that ends takes the others along.
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

/// Runs `body` until it ends or the service group shuts down, which cancels it and is no failure.
package func untilShutdown(_ body: @escaping @Sendable () async throws -> Void) async throws {
    do {
        try await cancelWhenGracefulShutdown(body)
    } catch is CancellationError where Task.isShuttingDownGracefully {}
}
