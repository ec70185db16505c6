package import Nostr
package import PikaCore
import Synchronization

/// The account host of one ``LabLogin``: empty states, connections to the lab's relays, and faults on demand.
package final class LabAccountHost: AccountHost {
    private struct State {
        var stored: Set<PublicKey> = []
        var open: [PublicKey] = []
        var wiped: [PublicKey] = []
        var openFault: String?
        var signerFault: String?
        var wipeFault: String?
        var holdsOpening = false
        /// The number of the newest opening.
        var openings = 0
        /// Held openings, in the order in which they asked.
        var waiters: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let name: String
    private let lab: GroupLab
    private let state = Mutex(State())

    init(_ name: String, lab: GroupLab) {
        self.name = name
        self.lab = lab
    }

    /// The accounts with a state, which were opened and not wiped since.
    package var storedAccounts: Set<PublicKey> { self.state.withLock { $0.stored } }

    /// The accounts whose states are open.
    package var openAccounts: [PublicKey] { self.state.withLock { $0.open } }

    /// The accounts that were wiped, in order.
    package var wipedAccounts: [PublicKey] { self.state.withLock { $0.wiped } }

    /// Makes opening a state fail with this reason; nil ends that.
    package func failToOpen(_ reason: String?) { self.state.withLock { $0.openFault = reason } }

    /// Makes opening connections to remote signers fail with this reason; nil ends that.
    package func failToOpenSigners(_ reason: String?) { self.state.withLock { $0.signerFault = reason } }

    /// Makes wipes fail with this reason; nil ends that.
    package func failToWipe(_ reason: String?) { self.state.withLock { $0.wipeFault = reason } }

    /// Makes each opened state wait, before it is used, until ``releaseOpening()`` or its own cancellation.
    package func holdOpening() { self.state.withLock { $0.holdsOpening = true } }

    /// Resumes waiting openings and stops holding later ones.
    package func releaseOpening() {
        let waiters = self.state.withLock { state in
            state.holdsOpening = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Opens an account's state while `body` runs; throws the injected fault.
    package func withState(of account: PublicKey, _ body: () async throws -> Void) async throws {
        try self.state.withLock { state in
            if let fault = state.openFault { throw LabError(.injectedFault, fault) }
            state.stored.insert(account)
            state.open.append(account)
        }
        defer { self.state.withLock { state in state.open.removeAll { $0 == account } } }
        await self.waitForRelease()
        try await body()
    }

    /// Connects to a remote signer's relays; throws the injected fault. All relays accept the connection without
    /// authentication.
    package func openSigner(client: KeyPair) async throws -> SignerResources {
        if let fault = self.state.withLock({ $0.signerFault }) { throw LabError(.injectedFault, fault) }
        return SignerResources(transport: self.lab.network.transport(name: "\(self.name)'s signer"))
    }

    /// Deletes an account's state; throws the injected fault. Traps if the state is open.
    package func wipe(_ account: PublicKey) async throws {
        try self.state.withLock { state in
            if let fault = state.wipeFault { throw LabError(.injectedFault, fault) }
            precondition(!state.open.contains(account), "an account must be closed before it is wiped")
            state.stored.remove(account)
            state.wiped.append(account)
        }
    }

    private func waitForRelease() async {
        let number = self.state.withLock { state in
            state.openings += 1
            return state.openings
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    guard state.holdsOpening, !Task.isCancelled else { return false }
                    state.waiters.append((number, continuation))
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let waiter: CheckedContinuation<Void, Never>? = self.state.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
                return state.waiters.remove(at: index).continuation
            }
            waiter?.resume()
        }
    }
}
