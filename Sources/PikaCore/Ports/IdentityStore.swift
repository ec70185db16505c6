package import Nostr

/// The host's storage for the identities of accounts, at most one of each account.
///
/// The core never stores a key in the clear; the host decides how to store an identity that is a bare key.
package protocol IdentityStore: Sendable {
    /// Returns the stored identity of an account, also of a logged-out one; nil if there is none.
    func identity(of account: PublicKey) async throws -> AccountIdentity?

    /// Returns the stored identity whose key this remote signer holds; nil if there is none.
    func identity(withSigner remoteSigner: PublicKey) async throws -> AccountIdentity?

    /// Replaces the identity of its account, and logs the account in unless it is ``AccountIdentity/wiping(_:)``. It is
    /// durable when this returns. Throws the error of ``AccountIdentity/requireReplaceable(by:)`` instead of replacing
    /// an identity that must be kept.
    func save(_ identity: AccountIdentity) async throws

    /// Logs an account out, if it is logged in. A host may keep its identity elsewhere.
    func setAside(_ account: PublicKey) async throws

    /// Erases the identity of an account for good.
    func remove(_ account: PublicKey) async throws
}
