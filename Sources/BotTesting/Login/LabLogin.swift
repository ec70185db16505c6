package import Nostr
package import PikaCore
import Synchronization

/// An ``AccountLogin`` in a ``GroupLab``, with identities and states in memory.
package final class LabLogin: Sendable {
    /// A login that was begun.
    package final class Attempt: Sendable {
        private struct State: Sendable {
            var result: Result<PublicKey, any Error>?
            var approvals: [String] = []
            var task: Task<Void, Never>?
        }

        private let state = Mutex(State())

        fileprivate init() {}

        /// Whether the login has succeeded or failed.
        package var isOver: Bool { self.state.withLock { $0.result != nil } }

        /// The account that logged in; nil otherwise.
        package var account: PublicKey? {
            if case .success(let account)? = self.state.withLock({ $0.result }) { account } else { nil }
        }

        /// The error of a failed login.
        package var error: (any Error)? {
            if case .failure(let error)? = self.state.withLock({ $0.result }) { error } else { nil }
        }

        /// The addresses where a user has to approve the login, in order.
        package var approvals: [String] { self.state.withLock { $0.approvals } }

        /// Cancels the login, as the end of its process or command does.
        package func cancel() { self.state.withLock { $0.task }?.cancel() }

        fileprivate func end(_ result: Result<PublicKey, any Error>) { self.state.withLock { $0.result = result } }

        fileprivate func note(approval: String) { self.state.withLock { $0.approvals.append(approval) } }

        fileprivate func run(_ task: Task<Void, Never>) { self.state.withLock { $0.task = task } }
    }

    /// Numbers the generators of one login.
    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            self.count.withLock { count in
                count += 1
                return count
            }
        }
    }

    package let identities: MemoryIdentityStore
    package let host: LabAccountHost
    private let lab: GroupLab
    private let login: AccountLogin

    init(_ name: String, lab: GroupLab) {
        let (identities, host) = (MemoryIdentityStore(), LabAccountHost(name, lab: lab))
        let (seed, counter) = (lab.seed, Counter())
        self.lab = lab
        self.identities = identities
        self.host = host
        self.login = AccountLogin(
            identities: identities, host: host, clock: lab.clock,
            randomness: { SeededGenerator(seed: seed, stream: "\(name) login \(counter.next())") },
            logger: lab.log.logger(name))
    }

    /// Begins a login without waiting.
    package func begin(_ credential: LoginCredential) -> Attempt {
        let (attempt, login) = (Attempt(), self.login)
        attempt.run(
            Task(executorPreference: self.lab.executor) {
                do {
                    attempt.end(.success(try await login.logIn(credential) { attempt.note(approval: $0) }))
                } catch {
                    attempt.end(.failure(error))
                }
            })
        return attempt
    }

    /// Begins a login and settles; the login may still be in progress then.
    package func attempt(_ credential: LoginCredential) async throws -> Attempt {
        let attempt = self.begin(credential)
        try await self.lab.settle()
        return attempt
    }

    /// Logs an account out.
    package func logOut(_ account: PublicKey) async throws {
        let login = self.login
        try await self.lab.run { try await login.logOut(account) }
    }

    /// Wipes an account.
    package func wipe(_ account: PublicKey) async throws {
        let login = self.login
        try await self.lab.run { try await login.wipe(account) }
    }
}

extension GroupLab {
    /// Creates logins without any stored account.
    package func login(_ name: String) -> LabLogin { LabLogin(name, lab: self) }
}
