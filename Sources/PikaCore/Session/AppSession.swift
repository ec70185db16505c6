public import Logging
import Nostr

/// Accounts, one at a time: has the face of an ``AppCore`` from before the first login until after the last logout.
///
/// What is published is one sequence of snapshots whose ``AppState/rev`` rises strictly, also from one account to the
/// next. The session itself performs ``AppAction/createAccount(name:)``, ``AppAction/login(_:)``,
/// ``AppAction/restoreSession``, ``AppAction/logout`` and ``AppAction/wipeLocalData``; everything else goes to the core
/// of the account that is logged in. While a login is under way other actions wait for its end, but a logout or wipe
/// cuts it short.
///
/// With a remote signer (NIP-46) a login ends when the signer has said whose key it holds, or has had 30 s for it, and
/// 5 minutes more after asking for an approval. Its connections live as long as the account's session. A session that is
/// restored does not wait for the signer; how it stands with that is in ``AppState/signer``.
///
/// A core that fails, because its store does or a later copy of the account was started, ends the account's session and
/// not this one: the state is logged out then, with a toast that says why. The identity stays, so that
/// ``AppAction/restoreSession`` can try again.
///
/// Every action with a request id ends with exactly one outcome: those under way at a logout fail with
/// ``AppCoreError/Code/sessionEnded``. What is stored for sending leaves after the next login.
public actor AppSession {
    /// Events for handlers, of whichever account is logged in; those not completed come again when it is the next
    /// time. One consumer. None come with ``CoreConfiguration/keepsInbox`` off.
    public nonisolated let events: AsyncStream<SessionEvent>
    /// The newest snapshot.
    public internal(set) var state = AppState()
    /// The core of the account that is logged in, for what it is asked directly, such as files. Actions go through
    /// the session.
    public internal(set) var core: AppCore?

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

    /// For the next account, and for the one that runs.
    var configuration: CoreConfiguration
    var random: CoreRandom
    var account: OpenAccount?
    /// How often an account was opened, or was tried to.
    var attempts = 0
    var opening: Result<OpenAccount, AppCoreError>?
    /// How often connections to a remote signer were opened.
    var links = 0
    /// How long the signer of a login has got.
    var contact: SignerContact?
    /// To a signer whose account is not stored yet.
    var introduction: SignerIntroduction?
    var busy = AppState.Busy()
    /// Of the session itself; it lies over the core's.
    var toast: String?
    /// The newest snapshot of the core.
    var coreState: AppState?
    /// Requests that the core has not answered, and how many with that id.
    var pending: [RequestID: Int] = [:]
    /// Configurations that the core was given, under the ids of the session's own requests.
    var reloads: [RequestID: (configuration: CoreConfiguration, request: RequestID?)] = [:]
    var lastReload = 0

    /// - Parameters:
    ///   - identities: where the host keeps the account that is logged in.
    ///   - host: opens and wipes what each account has.
    ///   - configuration: for every account; ``AppAction/reloadConfiguration(_:)`` changes it.
    ///   - randomness: a source for the session, number 0, one for each account that it opens, and one with a negative
    ///     number for each connection to a remote signer; anything but the system's generator is for tests.
    public init(
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
    public nonisolated func dispatch(_ action: AppAction, request: RequestID? = nil) {
        self.send.yield(.action(action, request))
    }

    /// Snapshots and outcomes from now on, the newest snapshot first; for any number of readers.
    public nonisolated func updates() -> AsyncStream<AppUpdate> { self.hub.updates() }

    /// Marks an event as handled, together with everything the handlers want done. Does nothing if its account is not
    /// logged in any more: then the event comes again with it.
    public func complete(_ event: SessionEvent, effects: [HandlerEffect]) {
        guard let core = self.core, core.account == event.account else { return }
        core.complete(event.event.inboxID, effects: effects)
    }

    /// The secret key of the account that is logged in, under a password (NIP-49): `ncryptsec1…`.
    ///
    /// Throws ``AppCoreError/Code/notLoggedIn``, and ``AppCoreError/Code/notAllowed`` for an empty password and for a
    /// key that a remote signer has.
    public func exportKey(password: String) async throws(AppCoreError) -> String {
        guard let account = self.account else { throw AppCoreError(.notLoggedIn, "nobody is logged in") }
        guard !password.isEmpty else {
            throw AppCoreError(.notAllowed, "a key is not exported under an empty password; choose one")
        }
        guard case .local(let key) = account.unlocked.key else {
            throw AppCoreError(.notAllowed, "the account's key is with a remote signer; only that can export it")
        }
        // The generator is used elsewhere, so this one moves on by what a salt and a nonce take.
        let random = self.random
        for _ in 0..<8 { _ = self.random.next() }
        return try await Self.encrypt(key, account.unlocked.security, password: password, random)
    }

    /// Away from the session: it takes a while.
    @concurrent
    private static func encrypt(
        _ key: KeyPair, _ security: NIP49.KeySecurity, password: String, _ random: CoreRandom
    ) async throws(AppCoreError) -> String {
        var random = random
        do {
            return try key.encrypted(password: NIP49.Password(password), security: security, using: &random)
        } catch { throw AppCoreError(credential: error) }
    }

    /// Runs until the task is cancelled; may be called once. First finishes a wipe that was cut short.
    public func run() async throws {
        guard !self.hasStarted else { throw AppCoreError(.busy, "a session runs once") }
        self.hasStarted = true
        let inputs = SessionInputs(self.stream)
        do { try await self.finishWipe() } catch { self.toast = error.message }
        self.publish()
        while let account = await self.awaitAccount(inputs) { await self.live(account, inputs) }
        self.send.finish()
        for request in await inputs.drain() {
            self.finish(request, .failed(AppCoreError(.sessionEnded, "the session has ended")))
        }
        self.hub.close()
        self.deliver.finish()
    }
}

// MARK: What readers get

extension AppSession {
    /// The next snapshot: what the core shows, and the session's own part over it.
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

    /// Ends an action with an error, which also shows as a toast.
    func fail(_ request: RequestID?, _ error: AppCoreError) {
        self.toast = error.message
        self.publish()
        self.finish(request, .failed(error))
    }
}
