import BotKit
import Synchronization

/// The remote signer of a ``GroupLab`` member: holds the key, and behaves as the test chooses.
package final class LabSigner: RemoteSigner {
    /// The treatment of requests.
    package enum Conduct: Sendable, Hashable {
        /// Answers at once.
        case answers
        /// Does not answer until ``release()``, or until the request is cancelled.
        case holdsBack
        /// Throws `SignerError.Code.away` at once.
        case away
        /// Throws `SignerError.Code.refused` with this reason at once.
        case refuses(reason: String)
        /// Signs an event other than the requested one.
        case cheats
    }

    private struct State {
        var conduct = Conduct.answers
        var random: SeededGenerator
        var questions = 0
        var lastWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Requests cancelled before they waited.
        var cancelled: Set<Int> = []
    }

    private let keys: KeyPair
    private let state: Mutex<State>

    init(_ keys: KeyPair, random: SeededGenerator) {
        self.keys = keys
        self.state = Mutex(State(random: random))
    }

    /// The treatment of later requests, initially `.answers`; waiting ones keep waiting until ``release()``.
    package var conduct: Conduct {
        get { self.state.withLock { $0.conduct } }
        set { self.state.withLock { $0.conduct = newValue } }
    }

    /// The number of requests so far.
    package var questions: Int { self.state.withLock { $0.questions } }

    /// The number of requests kept waiting.
    package var waiting: Int { self.state.withLock { $0.waiters.count } }

    /// Answers from now on, including the waiting requests.
    package func release() {
        let waiters = self.state.withLock { state in
            state.conduct = .answers
            defer { state.waiters = [:] }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns the signed event, or a different one while the signer cheats; throws as the conduct demands.
    package func sign(_ event: UnsignedEvent) async throws(SignerError) -> Event {
        try await self.applyConduct()
        return self.state.withLock { state in
            var event = event
            if state.conduct == .cheats { event.content += "!" }
            return event.signed(by: self.keys, using: &state.random)
        }
    }

    /// Returns the NIP-44 payload of a text for a peer; throws as the conduct demands, and `SignerError.Code.refused`
    /// for an invalid text or key.
    package func nip44Encrypt(_ plaintext: [UInt8], to peer: PublicKey) async throws(SignerError) -> String {
        try await self.applyConduct()
        let nonce = self.state.withLock { Bytes32.random(using: &$0.random).bytes }
        do throws(NostrError) {
            return try NIP44.encrypt(plaintext, try NIP44.conversationKey(self.keys, peer), nonce: nonce)
        } catch { throw SignerError(.refused, error.message) }
    }

    /// Returns the text of a NIP-44 payload of a peer; throws as the conduct demands, and `SignerError.Code.refused`
    /// for an invalid payload or key.
    package func nip44Decrypt(_ payload: String, from peer: PublicKey) async throws(SignerError) -> [UInt8] {
        try await self.applyConduct()
        do throws(NostrError) {
            return try NIP44.decrypt(payload, try NIP44.conversationKey(self.keys, peer))
        } catch { throw SignerError(.refused, error.message) }
    }

    private func applyConduct() async throws(SignerError) {
        let conduct = self.state.withLock { state in
            state.questions += 1
            return state.conduct
        }
        switch conduct {
        case .answers, .cheats: break
        case .away: throw SignerError(.away, "the signer is away")
        case .refuses(let reason): throw SignerError(.refused, reason)
        case .holdsBack:
            await self.wait()
            if Task.isCancelled { throw SignerError(.away, "the request was cancelled") }
        }
    }

    private func wait() async {
        let number = self.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = self.state.withLock { state in
                    if state.cancelled.remove(number) != nil || state.conduct != .holdsBack { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = self.state.withLock { state in
                let waiter = state.waiters.removeValue(forKey: number)
                if waiter == nil { state.cancelled.insert(number) }
                return waiter
            }
            waiter?.resume()
        }
    }
}
