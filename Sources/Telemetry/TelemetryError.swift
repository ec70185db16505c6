package import Errors

/// An error of the telemetry endpoint.
package typealias TelemetryError = LayerError<TelemetryLayer>

/// Marks ``TelemetryError``.
package enum TelemetryLayer {}

extension ErrorCode where Failure == TelemetryError {
    /// The endpoint cannot bind its address.
    package static var bindFailed: Self { Self("bind_failed") }
}
