import Errors
package import Logging
package import NIOCore
import NIOPosix
package import NetworkAddresses
package import Nostr
package import PikaCore
import ServiceLifecycle

/// Connections to several relays: the network half of the core.
///
/// ``run()`` performs the work; earlier requests wait for it. A subscription is sent to all relays of the set, or to
/// those that it names; a named relay outside the set gets it once it joins. The consumer of ``updates`` must keep
/// reading while it waits for a publish or a fetch: when it lags, reading from relays stops, and no answer arrives.
package actor RelayPool: RelayTransport, Service {
    /// Answers a NIP-42 challenge with a signed event of kind 22242, or nil to decline the login.
    package typealias Signer = @Sendable (_ challenge: String, _ relay: RelayURL) async -> Event?

    private enum Stage {
        case new
        case running
        case stopping
        case over
    }

    private enum Step: Sendable {
        case start(RelayConnection)
        case stop
    }

    private struct Member {
        let connection: RelayConnection
        var issued = 0
    }

    private let environment: ConnectionEnvironment
    private let steps: AsyncStream<Step>
    private nonisolated let nextStep: AsyncStream<Step>.Continuation
    private var stage = Stage.new
    private var hasRun = false
    private var members: [RelayURL: Member] = [:]
    private var relays: Set<RelayURL> = []
    private var subscriptions: [String: RelaySubscription] = [:]
    private var lastNumber = 0
    private var shutdownWaiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - signer: Nil disables logins; otherwise asked only for relays of the set, and for those that the
    ///     configuration names.
    ///   - addresses: Decides, for each connection, which addresses of a relay may be connected to.
    ///   - clock: Clock of timeouts, pings and retries.
    ///   - unixTime: The wall clock; nil for the system's.
    ///   - generator: Source of jitter, masking keys and handshake keys.
    ///   - crashes: The account's journal of messages in flight; quarantined messages are refused.
    ///   - verified: The verified events, which several pools of a process may share; nil for a memory of its own.
    ///   - eventLoops: Where the connections run.
    ///   - observer: Receives each new update when it arrives, before its consumer; must return quickly.
    ///
    /// Throws `TransportError.Code.badConfiguration` and `TransportError.Code.badTrustRoots`.
    package init(
        configuration: TransportConfiguration = TransportConfiguration(), signer: Signer? = nil,
        addresses: AddressGuard, clock: some Clock<Duration> = ContinuousClock(),
        unixTime: (@Sendable () -> UnixTime)? = nil,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        crashes: CrashLedger = .off, verified: VerifiedSignatures? = nil,
        eventLoops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        observer: (@Sendable (RelayUpdate) -> Void)? = nil, logger: Logger
    ) throws(TransportError) {
        try configuration.validate()
        let shared = SharedGenerator(generator)
        environment = ConnectionEnvironment(
            configuration, connector: try WebSocketConnector(configuration, generator: shared, eventLoops: eventLoops),
            clock: TransportClock(clock, unixTime: unixTime ?? { UnixTime.systemTime }), generator: shared,
            verifier: MessageVerifier(
                verified ?? VerifiedSignatures(capacity: configuration.verifiedSignatures), crashes: crashes),
            signer: signer, addresses: addresses, observer: observer, logger: logger)
        (steps, nextStep) = AsyncStream.makeStream()
    }

    package nonisolated var updates: AsyncStream<RelayUpdate> { environment.updates.updates }

    package nonisolated func offerUpdates(to receiver: @escaping @Sendable (RelayUpdate) -> Bool) {
        environment.updates.offer(to: receiver)
    }
}

// MARK: Lifecycle

extension RelayPool {
    /// Connects until a graceful shutdown or ``shutdown()``, which may come before; may be called once. Cancellation
    /// closes all sockets at once, without closing handshakes.
    package func run() async throws {
        guard !hasRun else { throw TransportError(.alreadyRun, "a relay pool can run only once; create another one") }
        hasRun = true
        guard stage == .new else { return }
        stage = .running
        let (nextStep, updates) = (nextStep, environment.updates)
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await runConnections()
            } onGracefulShutdown: {
                nextStep.yield(.stop)
            }
        } onCancel: {
            updates.release()
        }
        await end()
    }

    package func shutdown() async {
        switch stage {
        case .new: await end()
        case .running, .stopping:
            nextStep.yield(.stop)
            await withCheckedContinuation { shutdownWaiters.append($0) }
        case .over: break
        }
    }

    private func runConnections() async {
        await withDiscardingTaskGroup { group in
            for await step in steps {
                switch step {
                case .start(let connection): group.addTask { await connection.run() }
                case .stop:
                    stop()
                    nextStep.finish()
                }
            }
        }
    }

    private func stop() {
        stage = .stopping
        // A reader that waits for the consumer would not receive the answer to the close frame.
        environment.updates.release()
        for relay in members.keys { send(.stop, to: relay) }
    }

    private func end() async {
        stage = .over
        nextStep.finish()
        for member in members.values { await member.connection.abandon() }
        members = [:]
        environment.updates.finish()
        environment.listeners.removeAll()
        for waiter in shutdownWaiters { waiter.resume() }
        shutdownWaiters = []
    }
}

// MARK: Relays and subscriptions

extension RelayPool {
    // Async, because a direct call would prefer the protocol's empty default implementation.
    package func setConfiguredRelays(_ relays: [RelayURL]) async { environment.addresses.setConfiguredRelays(relays) }

    package func setRelays(_ relays: [RelayURL]) {
        let wanted = Set(relays)
        let (gone, new) = (self.relays.subtracting(wanted), wanted.subtracting(self.relays))
        self.relays = wanted
        for relay in gone { send(.setStanding(false), to: relay) }
        for relay in new.sorted() {
            for subscription in subscriptions.values where covers(subscription, relay) {
                send(.subscribe(subscription), to: relay)
            }
            send(.setStanding(true), to: relay)
        }
    }

    package func reconnect() {
        for relay in relays.sorted() { send(.retryNow, to: relay) }
    }

    package func subscribe(_ subscription: RelaySubscription) {
        subscriptions[subscription.id] = subscription
        environment.delivered.begin(subscription.id)
        for relay in relays {
            send(covers(subscription, relay) ? .subscribe(subscription) : .unsubscribe(subscription.id), to: relay)
        }
    }

    package func unsubscribe(_ id: String) {
        guard subscriptions.removeValue(forKey: id) != nil else { return }
        environment.delivered.end(id)
        for relay in relays { send(.unsubscribe(id), to: relay) }
    }

    /// Opens or replaces a subscription whose events are delivered here and not through ``updates``: stored events,
    /// their end, new events, and refusals. A slow listener loses the oldest. Ends with ``stopListening(to:)`` and with
    /// the pool.
    package func listen(_ subscription: RelaySubscription) -> AsyncStream<RelayUpdate> {
        guard stage == .new || stage == .running else { return AsyncStream { nil } }
        let updates = environment.listeners.add(subscription.id)
        subscribe(subscription)
        return updates
    }

    package func stopListening(to id: String) {
        environment.listeners.remove(id)
        unsubscribe(id)
    }

    private func covers(_ subscription: RelaySubscription, _ relay: RelayURL) -> Bool {
        subscription.relays?.contains(relay) ?? true
    }
}

// MARK: Requests

extension RelayPool {
    package func publish(_ event: Event, to relays: [RelayURL]) -> AsyncStream<PublishReport> {
        let (reports, continuation) = AsyncStream<PublishReport>.makeStream()
        let distinct = Set(relays)
        let tally = PublishTally(distinct.count, continuation)
        let deadline = environment.clock.now.elapsed + environment.configuration.publishTimeout
        for relay in distinct.sorted() {
            lastNumber += 1
            let report: @Sendable (PublishReport.Outcome) -> Void = {
                tally.count(PublishReport(relay: relay, outcome: $0))
            }
            send(.publish(lastNumber, event, deadline: deadline, report: report), to: relay)
        }
        return reports
    }

    package func fetch(
        _ filters: [Filter], from relays: [RelayURL], timeout: Duration
    ) async -> [RelayURL: FetchOutcome] {
        let distinct = Set(relays)
        guard !filters.isEmpty else {
            return Dictionary(uniqueKeysWithValues: distinct.map { ($0, .events([])) })
        }
        let deadline = environment.clock.now.elapsed + timeout
        return await withTaskGroup(of: (RelayURL, FetchOutcome).self) { group in
            for relay in distinct {
                group.addTask { (relay, await self.fetch(filters, from: relay, deadline: deadline)) }
            }
            var outcomes: [RelayURL: FetchOutcome] = [:]
            for await (relay, outcome) in group { outcomes[relay] = outcome }
            return outcomes
        }
    }

    private func fetch(_ filters: [Filter], from relay: RelayURL, deadline: Duration) async -> FetchOutcome {
        await withCheckedContinuation { continuation in
            lastNumber += 1
            send(.fetch(lastNumber, filters, deadline: deadline) { continuation.resume(returning: $0) }, to: relay)
        }
    }

    /// Sends a command; each relay handles its commands in the order of these calls.
    private func send(_ command: RelayConnection.Command, to relay: RelayURL) {
        guard var member = members[relay] ?? newMember(relay) else {
            RelayConnection.refuse(command)
            return
        }
        member.issued += 1
        members[relay] = member
        member.connection.enqueue(command)
    }

    private func newMember(_ relay: RelayURL) -> Member? {
        guard stage == .new || stage == .running else { return nil }
        let connection = RelayConnection(relay: relay, environment: environment) { [weak self] connection, handled in
            await self?.retire(connection, handled: handled)
        }
        nextStep.yield(.start(connection))
        return Member(connection: connection)
    }

    /// Ends an idle connection, unless it has not yet handled all of its commands.
    private func retire(_ connection: RelayConnection, handled: Int) {
        guard let member = members[connection.relay], member.connection === connection,
            member.issued == handled, !relays.contains(connection.relay)
        else { return }
        members[connection.relay] = nil
        connection.enqueue(.stop)
    }
}
