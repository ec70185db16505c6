package import Nostr

/// Connections to a remote signer's relays only.
package struct SignerResources: Sendable {
    package let transport: any RelayTransport
    /// Runs the transport until it is cancelled or shut down; an error ends the login.
    package let run: @Sendable () async throws -> Void

    package init(transport: any RelayTransport, run: @escaping @Sendable () async throws -> Void = {}) {
        self.transport = transport
        self.run = run
    }
}

/// The accounts' states, and connections to their remote signers.
package protocol AccountHost: Sendable {
    /// Opens the state of a new or known account, checks that it can be read, and keeps it open, and closed to others,
    /// while `body` runs. Its errors are shown to users.
    func withState(of account: PublicKey, _ body: () async throws -> Void) async throws

    /// Opens connections to a remote signer's relays, even if the signer is offline; a shutdown ends them, even if they
    /// never ran. Authenticates as `client` to relays that ask for it. Its errors are shown to users.
    func openSigner(client: KeyPair) async throws -> SignerResources

    /// Deletes everything stored for an account, including leftovers of an earlier call that failed. Called only while
    /// nothing of the account is open. Does nothing if nothing is stored.
    func wipe(_ account: PublicKey) async throws
}
