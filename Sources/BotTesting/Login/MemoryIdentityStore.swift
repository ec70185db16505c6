package import Nostr
package import PikaCore
import Synchronization

/// An ``IdentityStore`` in memory, with faults on demand. It does not keep the identity of a logged-out account.
package final class MemoryIdentityStore: IdentityStore {
    /// A kind of method of ``IdentityStore``.
    package enum Call: Hashable, Sendable {
        /// Reading, replacing or deleting an identity.
        case load, save, delete
    }

    private struct State {
        var identities: [PublicKey: AccountIdentity] = [:]
        var failing: Set<Call> = []
    }

    private let state = Mutex(State())

    /// Creates an empty store.
    package init() {}

    /// The stored identities, in no particular order. Reading them is not a call.
    package var identities: [AccountIdentity] { self.state.withLock { Array($0.identities.values) } }

    /// Makes all calls of these kinds throw `LabError.Code.injectedFault` without effect, until the set is replaced.
    package func fail(_ calls: Set<Call>) {
        self.state.withLock { $0.failing = calls }
    }

    /// Returns an account's stored identity; nil if absent.
    package func identity(of account: PublicKey) async throws -> AccountIdentity? {
        try self.perform(.load) { $0[account] }
    }

    /// Returns the stored identity whose key this remote signer holds; nil if absent.
    package func identity(withSigner remoteSigner: PublicKey) async throws -> AccountIdentity? {
        try self.perform(.load) { identities in
            identities.values.first { identity in
                if case .bunker(_, let url, _) = identity { url.remoteSigner == remoteSigner } else { false }
            }
        }
    }

    /// Replaces the identity of its account; throws if the stored one must be kept.
    package func save(_ identity: AccountIdentity) async throws {
        try self.perform(.save) { identities in
            try identities[identity.account]?.requireReplaceable(by: identity)
            identities[identity.account] = identity
        }
    }

    /// Deletes an account's identity.
    package func setAside(_ account: PublicKey) async throws { try self.perform(.delete) { $0[account] = nil } }

    /// Deletes an account's identity.
    package func remove(_ account: PublicKey) async throws { try self.perform(.delete) { $0[account] = nil } }

    private func perform<Result>(
        _ call: Call, _ body: (inout [PublicKey: AccountIdentity]) throws -> Result
    ) throws -> Result {
        try self.state.withLock { state in
            guard !state.failing.contains(call) else { throw LabError(.injectedFault, "the test makes \(call) fail") }
            return try body(&state.identities)
        }
    }
}
