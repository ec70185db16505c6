/// Where the host keeps what it takes to go on with an account after a restart: one identity at most.
///
/// The core never stores a key in the clear; an identity that is a bare key is kept as the host decides.
public protocol IdentityStore: Sendable {
    /// What was saved last; nil if nothing was, or it was deleted.
    func load() async throws -> AccountIdentity?

    /// Replaces what was saved before. It is durable when this returns.
    func save(_ identity: AccountIdentity) async throws

    /// Forgets what was saved, if there is anything.
    func delete() async throws
}
