import Nostr
public import PikaCore
import Synchronization

/// An ``IdentityStore`` in memory, with faults on demand.
public final class MemoryIdentityStore: IdentityStore {
    public enum Call: Hashable, Sendable {
        case load, save, delete
    }

    private struct State {
        var identity: AccountIdentity?
        var failing: Set<Call> = []
        var calls: [Call] = []
    }

    private let state: Mutex<State>

    public init(_ identity: AccountIdentity? = nil) {
        self.state = Mutex(State(identity: identity))
    }

    public var identity: AccountIdentity? { self.state.withLock { $0.identity } }

    /// Everything that was asked of the store, in order.
    public var calls: [Call] { self.state.withLock { $0.calls } }

    /// Lets every such call throw ``LabError/Code/injectedFault`` and change nothing, until others are named.
    public func fail(_ calls: Set<Call>) {
        self.state.withLock { $0.failing = calls }
    }

    public func load() async throws -> AccountIdentity? { try self.note(.load) { $0 } }
    public func save(_ identity: AccountIdentity) async throws { try self.note(.save) { $0 = identity } }
    public func delete() async throws { try self.note(.delete) { $0 = nil } }

    private func note<Result>(_ call: Call, _ body: (inout AccountIdentity?) -> Result) throws -> Result {
        try self.state.withLock { state in
            state.calls.append(call)
            guard !state.failing.contains(call) else { throw LabError(.injectedFault, "\(call) was to fail") }
            return body(&state.identity)
        }
    }
}
