package import Errors

/// The reason why the relay could not be configured, started or queried.
package typealias RelayError = LayerError<EmbeddedRelayLayer>

/// Marks ``RelayError``.
package enum EmbeddedRelayLayer {}

extension ErrorCode where Failure == RelayError {
    /// An environment variable or a configured value is invalid.
    package static var invalidConfiguration: Self { Self("invalidConfiguration") }
    /// `run()` was called a second time.
    package static var alreadyRun: Self { Self("alreadyRun") }
    /// The relay stopped or failed to start before it had an answer.
    package static var notListening: Self { Self("notListening") }
    /// The address could not be bound.
    package static var bindFailed: Self { Self("bindFailed") }
    /// The database could not be opened or migrated.
    package static var storageFailed: Self { Self("storageFailed") }
}
