/// The host's storage for the identity needed to resume an account after a restart; at most one identity.
///
/// The core never stores a key in the clear; the host decides how to store an identity that is a bare key.
package protocol IdentityStore: Sendable {
    /// Returns the identity saved last; nil if none was saved, or it was deleted.
    func load() async throws -> AccountIdentity?

    /// Replaces the saved identity. It is durable when this returns.
    func save(_ identity: AccountIdentity) async throws

    /// Deletes the saved identity, if there is one. A host may keep that of a logged-out account elsewhere, but must
    /// erase ``AccountIdentity/wiping(_:)`` for good.
    func delete() async throws
}
