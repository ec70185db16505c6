package import Logging
import Nostr

/// Accounts, one at a time: offers the interface of an ``AppCore`` from before the first login until after the last
/// logout.
///
/// It publishes one sequence of snapshots whose ``AppState/rev`` rises strictly, even from one account to the next. The
/// session itself performs ``AppAction/createAccount(name:)``, ``AppAction/login(_:)``, ``AppAction/restoreSession``,
/// ``AppAction/logout`` and ``AppAction/wipeLocalData``; all other actions go to the core of the logged-in account.
/// During a login other actions wait for its end, but a logout or wipe cancels it.
///
/// With a remote signer (NIP-46) a login ends when the signer has named its account. The deadline is 30 s, plus 5
/// minutes if the signer asks for an approval. The signer's connections live as long as the account's session. A
/// restored session does not wait for the signer; ``AppState/signer`` shows the signer's state.
///
/// When an account's core fails, because its store does or a later copy of the account was started, the account's
/// session ends but this one continues: the state is logged out, with a toast that states the reason. The identity
/// stays stored, so that ``AppAction/restoreSession`` can try again.
///
/// Every action with a request id ends with exactly one outcome: those in flight at a logout fail with
/// `AppCoreError.Code.sessionEnded`. Events stored in the outbox are sent after the next login.
package actor AppSession {
    /// Events for handlers, of the logged-in account; uncompleted ones are delivered again at the account's next login.
    /// One consumer. There are none if ``CoreConfiguration/keepsInbox`` is off.
    package nonisolated let events: AsyncStream<SessionEvent>
    /// The newest snapshot.
    package internal(set) var state = AppState()
    /// The core of the logged-in account, for direct requests such as files. Actions go through the session.
    package internal(set) var core: AppCore?

    let identities: any IdentityStore
    let host: any AccountHost
    let clock: any CoreClock
    let randomness: @Sendable (_ run: Int) -> any RandomNumberGenerator & Sendable
    let logger: Logger
    nonisolated let hub = UpdateHub()
    nonisolated let send: AsyncStream<SessionInput>.Continuation
    nonisolated let deliver: AsyncStream<SessionEvent>.Continuation
    private let stream: AsyncStream<SessionInput>
    private var hasStarted = false

    /// The configuration of the running account and of the next one.
    var configuration: CoreConfiguration
    var random: CoreRandom
    var account: OpenAccount?
    /// The number of attempts to open an account.
    var attempts = 0
    var opening: Result<OpenAccount, AppCoreError>?
    /// The number of connections opened to remote signers.
    var links = 0
    /// The deadline of the current login's signer.
    var contact: SignerContact?
    /// The introduction to a signer whose account is not stored yet.
    var introduction: SignerIntroduction?
    var busy = AppState.Busy()
    /// The session's own toast; it hides the core's.
    var toast: String?
    /// The newest snapshot of the core.
    var coreState: AppState?
    /// Requests in flight in the core, with the number of uses of each id.
    var pending: [RequestID: Int] = [:]
    /// Configurations passed to the core, by the ids of the session's own requests.
    var reloads: [RequestID: (configuration: CoreConfiguration, request: RequestID?)] = [:]
    var lastReload = 0

    /// - Parameters:
    ///   - identities: the host's storage for the logged-in account's identity.
    ///   - host: opens and wipes the resources of each account.
    ///   - configuration: for every account; ``AppAction/reloadConfiguration(_:)`` changes it.
    ///   - randomness: returns a generator for the session (run 0), for each opened account, and, with a negative
    ///     number, for each connection to a remote signer; anything but the system's generator is for tests only.
    package init(
        identities: any IdentityStore, host: any AccountHost, configuration: CoreConfiguration, clock: any CoreClock,
        randomness: @escaping @Sendable (_ run: Int) -> any RandomNumberGenerator & Sendable = { _ in
            SystemRandomNumberGenerator()
        }, logger: Logger
    ) {
        self.identities = identities
        self.host = host
        self.configuration = configuration
        self.clock = clock
        self.randomness = randomness
        self.random = CoreRandom(randomness(0))
        self.logger = logger
        (self.stream, self.send) = AsyncStream.makeStream()
        (self.events, self.deliver) = AsyncStream.makeStream()
    }

    /// Enqueues an action and returns at once.
    package nonisolated func dispatch(_ action: AppAction, request: RequestID? = nil) {
        self.send.yield(.action(action, request))
    }

    /// Returns a stream of snapshots and outcomes from now on, starting with the newest snapshot; for any number of
    /// readers.
    package nonisolated func updates() -> AsyncStream<AppUpdate> { self.hub.updates() }

    /// Marks an event as handled and enqueues its handlers' effects with it. Does nothing if its account is no longer
    /// logged in: the event is then redelivered at its next login.
    package func complete(_ event: SessionEvent, effects: [HandlerEffect]) {
        guard let core = self.core, core.account == event.account else { return }
        core.complete(event.event.inboxID, effects: effects)
    }

    /// Runs until the task is cancelled; may be called once. First completes an interrupted wipe.
    package func run() async throws {
        guard !self.hasStarted else { throw AppCoreError(.busy, "a session can run only once") }
        self.hasStarted = true
        let inputs = SessionInputs(self.stream)
        do { try await self.finishWipe() } catch { self.toast = error.message }
        self.publish()
        while let account = await self.awaitAccount(inputs) { await self.runAccount(account, inputs) }
        self.send.finish()
        for request in await inputs.drain() {
            self.finish(request, .failed(AppCoreError(.sessionEnded, "the session has ended")))
        }
        self.hub.close()
        self.deliver.finish()
    }
}

// MARK: Publishing

extension AppSession {
    /// Publishes the next snapshot: the core's state, overlaid with the session's own.
    func publish() {
        var next = self.coreState ?? AppState()
        next.rev = self.state.rev + 1
        next.busy.creatingAccount = self.busy.creatingAccount
        next.busy.loggingIn = self.busy.loggingIn
        if self.coreState != nil, let unlocked = self.account?.unlocked {
            next.auth = .loggedIn(unlocked.key.publicKey, unlocked.mode)
        }
        if self.coreState == nil, let url = self.contact?.approval { next.signer = .needsApproval(url: url) }
        if let toast = self.toast { next.toast = toast }
        self.state = next
        self.hub.publish(next)
    }

    func finish(_ request: RequestID?, _ outcome: ActionOutcome) {
        guard let request else { return }
        self.hub.publish(AppUpdate.finished(rev: self.state.rev, request: request, outcome: outcome))
    }

    /// Ends an action with an error, which is also shown as a toast.
    func fail(_ request: RequestID?, _ error: AppCoreError) {
        self.toast = error.message
        self.publish()
        self.finish(request, .failed(error))
    }
}
