import Nostr
package import PikaCore
import Synchronization

/// An ``IdentityStore`` in memory, with faults on demand.
package final class MemoryIdentityStore: IdentityStore {
    /// A method of ``IdentityStore``.
    package enum Call: Hashable, Sendable {
        /// Loading, saving or deleting the identity.
        case load, save, delete
    }

    private struct State {
        var identity: AccountIdentity?
        var failing: Set<Call> = []
        var calls: [Call] = []
    }

    private let state: Mutex<State>

    /// Creates a store with an identity, by default none.
    package init(_ identity: AccountIdentity? = nil) {
        self.state = Mutex(State(identity: identity))
    }

    /// The stored identity; nil if absent. Reading it is not a call.
    package var identity: AccountIdentity? { self.state.withLock { $0.identity } }

    /// All calls of the store, in order.
    package var calls: [Call] { self.state.withLock { $0.calls } }

    /// Makes all calls of these kinds throw `LabError.Code.injectedFault` without effect, until the set is replaced.
    package func fail(_ calls: Set<Call>) {
        self.state.withLock { $0.failing = calls }
    }

    /// Returns the stored identity; nil if absent.
    package func load() async throws -> AccountIdentity? { try self.note(.load) { $0 } }
    /// Replaces the stored identity.
    package func save(_ identity: AccountIdentity) async throws { try self.note(.save) { $0 = identity } }
    /// Deletes the stored identity.
    package func delete() async throws { try self.note(.delete) { $0 = nil } }

    private func note<Result>(_ call: Call, _ body: (inout AccountIdentity?) -> Result) throws -> Result {
        try self.state.withLock { state in
            state.calls.append(call)
            guard !state.failing.contains(call) else { throw LabError(.injectedFault, "the test makes \(call) fail") }
            return body(&state.identity)
        }
    }
}
