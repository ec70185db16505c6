import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Synchronization

/// Exchange with one relay in a worker's order: connect, log in if required, write, read back.
struct RelayConversation: Sendable {
    private static let subscription = "pikabot-doctor"

    let relay: RelayURL
    /// The account; nil writes with a throwaway key, and does not log in.
    let account: KeyPair?
    /// Authors whose key packages and relay lists are fetched.
    let authors: [PublicKey]
    /// Timeout of each step.
    let limit: Duration
    let logger: Logger

    func run() async -> RelayRecord {
        let challenged = ChallengeFlag()
        var configuration = TransportConfiguration()
        (configuration.connectTimeout, configuration.publishTimeout) = (limit, limit)
        let pool: RelayPool
        do {
            pool = try RelayPool(
                configuration: configuration, signer: signer(challenged), addresses: .unrestricted, logger: logger)
        } catch {
            return RelayRecord(failure: error.message)
        }
        let received = UpdateLog<RelayUpdate>()
        var record = await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await pool.run() }
            group.addTask { for await update in pool.updates { await received.add(update) } }
            let record = await converse(pool, received)
            await pool.shutdown()
            return record
        }
        record.wasChallenged = challenged.isSet
        return record
    }

    private func signer(_ note: ChallengeFlag) -> RelayPool.Signer {
        { [account] challenge, relay in
            note.set()
            guard let account else { return nil }
            var generator = SystemRandomNumberGenerator()
            return NIP42.draft(challenge: challenge, relay: relay, by: account.publicKey, now: ThrowawayEvent.now)
                .signed(by: account, using: &generator)
        }
    }

    private func converse(_ pool: RelayPool, _ received: UpdateLog<RelayUpdate>) async -> RelayRecord {
        await pool.setRelays([relay])
        let state = await received.first(within: limit * 2) {
            switch $0 {
            case .state(_, .connected), .state(_, .retrying): true
            default: false
            }
        }
        guard case .state(_, .connected) = state else {
            guard case .state(_, .retrying(_, let reason)) = state else {
                return RelayRecord(failure: "the connection timed out")
            }
            return RelayRecord(failure: reason)
        }
        var record = RelayRecord()
        record.echo = await echo(pool, received)
        record.groupEvent = await groupEvent(pool)
        record.giftWrap = await giftWrap(pool)
        switch await fetch(Filter(authors: authors, kinds: AccountPresence.kinds), pool) {
        case .events(let events): record.stored = events
        case .failed(let reason): record.storedFailure = reason
        }
        return record
    }

    // MARK: Writing

    private func echo(_ pool: RelayPool, _ received: UpdateLog<RelayUpdate>) async -> RelayRecord.Attempt {
        let event = ThrowawayEvent.make(ThrowawayEvent.echoKind, by: account ?? ThrowawayEvent.keys())
        await pool.subscribe(
            RelaySubscription(
                id: Self.subscription, filters: [Filter(authors: [event.pubkey], kinds: [ThrowawayEvent.echoKind])],
                overlap: 0))
        let logsIn = account != nil
        let opened = await received.first(within: limit) {
            switch $0 {
            case .endOfStoredEvents(_, Self.subscription): true
            // It is reopened after a login.
            case .closed(_, Self.subscription, let message): !(logsIn && message.hasPrefix("auth-required"))
            default: false
            }
        }
        if case .closed(_, _, let message) = opened { return .refused(message) }
        let began = ContinuousClock.now
        if let failure = await failure(of: event, pool) { return failure }
        let update = await received.first(within: limit) {
            if case .event(_, Self.subscription, event) = $0 { true } else { false }
        }
        return update == nil ? .kept : .returned(ContinuousClock.now - began)
    }

    private func groupEvent(_ pool: RelayPool) async -> RelayRecord.Attempt {
        let (keys, group) = (ThrowawayEvent.keys(), ThrowawayEvent.keys().publicKey.hex)
        let event = ThrowawayEvent.make(
            .groupEvent, by: keys, [Tag("h", group), .expiration(at: ThrowawayEvent.now + 60)])
        let began = ContinuousClock.now
        if let failure = await failure(of: event, pool) { return failure }
        let outcome = await fetch(Filter(kinds: [.groupEvent], tags: ["h": [group]]), pool)
        let took = ContinuousClock.now - began
        // Ask for deletion too: relays without NIP-40 support would keep the event.
        _ = await failure(of: ThrowawayEvent.deletion(of: [event], by: keys), pool)
        guard case .events(let events) = outcome, events.contains(event) else { return .kept }
        return .returned(took)
    }

    private func giftWrap(_ pool: RelayPool) async -> RelayRecord.Attempt {
        let recipient = ThrowawayEvent.keys().publicKey.hex
        let tags = [Tag("p", recipient), Tag.expiration(at: ThrowawayEvent.now + 60)]
        return await failure(of: ThrowawayEvent.make(.giftWrap, by: ThrowawayEvent.keys(), tags), pool) ?? .kept
    }

    /// Publishes an event; returns nil if the relay has accepted it.
    private func failure(of event: Event, _ pool: RelayPool) async -> RelayRecord.Attempt? {
        for await report in await pool.publish(event, to: [relay]) {
            switch report.outcome {
            case .accepted: return nil
            case .refused(let reason): return .refused(reason)
            case .unreachable(let reason): return .lost(reason)
            }
        }
        return .lost("no answer")
    }

    private func fetch(_ filter: Filter, _ pool: RelayPool) async -> FetchOutcome {
        await pool.fetch([filter], from: [relay], timeout: limit)[relay] ?? .failed("no answer")
    }
}

/// Records whether a relay sent a NIP-42 challenge.
private final class ChallengeFlag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
