package import Errors

/// The reason why a worker could not start or had to end.
package typealias WorkerError = LayerError<WorkerLayer>

/// Marks ``WorkerError``.
package enum WorkerLayer {}

extension ErrorCode where Failure == WorkerError {
    /// The configuration has no account with that name.
    package static var unknownAccount: Self { Self("unknown_account") }
    /// No bot with that name is registered.
    package static var unknownBot: Self { Self("unknown_bot") }
    /// A bot rejects its settings under `with:`.
    package static var badSettings: Self { Self("bad_settings") }
    /// The account's key could not be loaded.
    package static var noKey: Self { Self("no_key") }
    /// The account's remote signer refuses this client.
    package static var signerRefused: Self { Self("signer_refused") }
    /// The state directory could not be created.
    package static var noStateDirectory: Self { Self("no_state_directory") }
}
