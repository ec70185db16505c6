package import PikaCore
import Synchronization

/// An ``AppSession`` in a ``GroupLab``: its logged-in account is a member like any other.
package final class LabSession: Sendable {
    private struct Life: Sendable {
        let session: AppSession
        let task: Task<Void, Never>
    }

    private struct Record: Sendable {
        var updates: [AppUpdate] = []
        var events: [SessionEvent] = []
        var requests = 0
    }

    /// The session's name; identifies it in publications and logs.
    package let name: String
    /// The stored identity, which survives restarts.
    package let identities: MemoryIdentityStore
    /// The host of its accounts, whose stores survive restarts.
    package let host: LabAccountHost
    private let lab: GroupLab
    private let configuration: CoreConfiguration
    private let life: Mutex<Life>
    private let record = Mutex(Record())

    init(_ name: String, lab: GroupLab, identities: MemoryIdentityStore, configuration: CoreConfiguration) {
        self.name = name
        self.lab = lab
        self.identities = identities
        self.configuration = configuration
        let host = LabAccountHost(name, lab: lab)
        self.host = host
        let session = Self.session(name, lab, identities, host, configuration, life: 0)
        self.life = Mutex(Life(session: session, task: Task {}))
        self.start(session)
    }

    /// The session of the current process.
    package var session: AppSession { self.life.withLock { $0.session } }

    /// All updates published in the current process, in order.
    package var updates: [AppUpdate] { self.record.withLock { $0.updates } }

    /// The snapshots among ``updates``.
    package var snapshots: [AppState] {
        self.updates.compactMap { if case .fullState(let state) = $0 { state } else { nil } }
    }

    /// All events delivered to the handlers, which completed them.
    package var events: [SessionEvent] { self.record.withLock { $0.events } }

    /// Dispatches an action without waiting.
    @discardableResult
    package func begin(_ action: AppAction) -> RequestID {
        let number = self.record.withLock { record in
            record.requests += 1
            return record.requests
        }
        let request = RequestID(rawValue: "\(self.name)-\(number)")
        self.session.dispatch(action, request: request)
        return request
    }

    /// Returns the outcomes of an action: one, or none yet.
    package func outcomes(of request: RequestID) -> [ActionOutcome] {
        self.updates.compactMap {
            if case .finished(_, request, let outcome) = $0 { outcome } else { nil }
        }
    }

    /// Dispatches an action and settles; returns nil if it is still in progress then.
    @discardableResult
    package func attempt(_ action: AppAction) async throws -> ActionOutcome? {
        let request = self.begin(action)
        try await self.lab.settle()
        return self.outcomes(of: request).first
    }

    /// Returns the newest snapshot.
    package func state() async throws -> AppState {
        let session = self.session
        return try await self.lab.run { await session.state }
    }

    /// Ends the process as a signal does: the session's task is cancelled.
    package func end() async throws {
        self.life.withLock { $0.task.cancel() }
        try await self.lab.settle()
    }

    /// Ends the process, and starts another one with the stored state.
    package func restart() async throws {
        try await self.end()
        let life = self.record.withLock { record in
            record.updates = []
            record.requests += 1
            return record.requests
        }
        self.start(Self.session(self.name, self.lab, self.identities, self.host, self.configuration, life: life))
        try await self.lab.settle()
    }

    private static func session(
        _ name: String, _ lab: GroupLab, _ identities: MemoryIdentityStore, _ host: LabAccountHost,
        _ configuration: CoreConfiguration, life: Int
    ) -> AppSession {
        AppSession(
            identities: identities, host: host, configuration: configuration, clock: lab.clock,
            randomness: { SeededGenerator(seed: lab.seed, stream: "\(name) life \(life) run \($0)") },
            logger: lab.log.logger(name))
    }

    private func start(_ session: AppSession) {
        let updates = session.updates()
        // The readers end only with the session, so that they receive the last actions' outcomes.
        Task(executorPreference: self.lab.executor) {
            for await update in updates { self.record.withLock { $0.updates.append(update) } }
        }
        Task(executorPreference: self.lab.executor) {
            for await event in session.events {
                self.record.withLock { $0.events.append(event) }
                await session.complete(event, effects: [])
            }
        }
        let task = Task(executorPreference: self.lab.executor) {
            do { try await session.run() } catch { preconditionFailure("a session can run only once: \(error)") }
        }
        self.life.withLock { $0 = Life(session: session, task: task) }
    }
}

extension GroupLab {
    /// Creates a session without a logged-in account; its accounts use all relays of the lab.
    package func session(
        _ name: String, identities: MemoryIdentityStore = MemoryIdentityStore(),
        invites: CoreConfiguration.InvitePolicy = .anyone
    ) async throws -> LabSession {
        let configuration = CoreConfiguration(
            relays: self.relays, invites: invites, selfUpdate: self.selfUpdate, mediaServers: self.mediaServers)
        let session = LabSession(name, lab: self, identities: identities, configuration: configuration)
        try await self.settle()
        return session
    }
}
