import Nostr

/// Protocol state of one client: each input returns the action for the connection.
///
/// Performs no I/O and never waits.
struct ClientSession: Sendable {
    enum Action: Hashable, Sendable {
        case reply([RelayMessage])
        /// Store the event, then answer with `reply(to:outcome:)`.
        case store(Event)
        /// Deliver the ephemeral event to subscribers and send the messages.
        case broadcast(Event, [RelayMessage])
        /// Start live delivery under the serial, end the replaced subscription, then answer from the store.
        case query(serial: UInt64, name: String, filters: [Filter], replacing: UInt64?)
        case count(name: String, filters: [Filter])
        case unsubscribe(serial: UInt64)
        case nothing
    }

    let challenge: String
    /// The address by which the client reached the relay; its login has to name it.
    let address: RelayURL?
    let acceptance: Acceptance
    private(set) var authenticated: Set<PublicKey> = []
    private(set) var feeds: [String: SubscriptionFeed] = [:]
    private var challengeSent = false
    private var nextSerial: UInt64 = 0
    private var rateLimit: TokenBucket?

    init(challenge: String, address: RelayURL?, acceptance: Acceptance, now: UnixTime) {
        self.challenge = challenge
        self.address = address
        self.acceptance = acceptance
        rateLimit = acceptance.limits.messagesPerSecond.map { TokenBucket(perSecond: $0, now: now) }
    }

    /// Returns the messages for a new client.
    mutating func opened() -> [RelayMessage] {
        guard acceptance.requireAuthentication else { return [] }
        challengeSent = true
        return [.authentication(challenge: challenge)]
    }

    /// - Parameter isAddressLimited: whether the client's address has exceeded its rate.
    mutating func received(_ message: ClientMessage, now: UnixTime, isAddressLimited: Bool = false) -> Action {
        // Checked before signatures and queries, because the limits bound their cost.
        if message.isMetered, isAddressLimited || rateLimit?.consume(at: now) == false {
            return .reply(Self.rateLimited(message))
        }
        return switch message {
        case .event(let event): published(event, now: now)
        case .request(let name, let filters): requested(name, filters)
        case .count(let name, let filters): counted(name, filters)
        case .close(let name): closed(name)
        case .authenticate(let event): authenticated(by: event, now: now)
        }
    }

    /// Returns the answer to an event that was passed to the store.
    func reply(to event: EventID, outcome: StoreOutcome) -> RelayMessage {
        .ok(event, accepted: outcome.isAccepted, message: outcome.message)
    }
}

// MARK: - Messages

extension ClientSession {
    private static func rateLimited(_ message: ClientMessage) -> [RelayMessage] {
        let reason = RefusalText(.rateLimited, "slow down").message
        return switch message {
        case .event(let event), .authenticate(let event): [.ok(event.id, accepted: false, message: reason)]
        case .request(let name, _), .count(let name, _): [.closed(subscription: name, message: reason)]
        case .close: []
        }
    }

    private mutating func published(_ event: Event, now: UnixTime) -> Action {
        switch acceptance.verdict(on: event, authenticated: authenticated, now: now) {
        case .store: return .store(event)
        case .broadcast: return .broadcast(event, [.ok(event.id, accepted: true, message: "")])
        case .refuse(let refusal):
            return .reply(withChallenge(.ok(event.id, accepted: false, message: refusal.message), refusal))
        }
    }

    private mutating func requested(_ name: String, _ filters: [Filter]) -> Action {
        if let refusal = refusal(name, filters) ?? subscriptionLimitRefusal(name) { return refuse(name, refusal) }
        let serial = nextSerial
        nextSerial += 1
        let replaced = feeds.updateValue(SubscriptionFeed(serial: serial), forKey: name)
        return .query(serial: serial, name: name, filters: filters, replacing: replaced?.serial)
    }

    private mutating func counted(_ name: String, _ filters: [Filter]) -> Action {
        if let refusal = refusal(name, filters) { return refuse(name, refusal) }
        return .count(name: name, filters: filters)
    }

    private mutating func closed(_ name: String) -> Action {
        guard let feed = feeds.removeValue(forKey: name) else { return .nothing }
        return .unsubscribe(serial: feed.serial)
    }

    private mutating func authenticated(by event: Event, now: UnixTime) -> Action {
        let refusal = LoginRequirements(challenge: challenge, address: address).refusal(of: event, now: now)
        if refusal == nil { authenticated.insert(event.pubkey) }
        return .reply([.ok(event.id, accepted: refusal == nil, message: refusal?.message ?? "")])
    }

    private func refusal(_ name: String, _ filters: [Filter]) -> RefusalText? {
        let limits = acceptance.limits
        if acceptance.requireAuthentication, authenticated.isEmpty {
            return RefusalText(.authenticationRequired, "log in before reading")
        }
        if name.isEmpty || name.utf8.count > limits.subscriptionIDBytes {
            return RefusalText(.invalid, "a subscription id must have 1 to \(limits.subscriptionIDBytes) bytes")
        }
        if filters.isEmpty || filters.count > limits.filtersPerRequest {
            return RefusalText(.invalid, "a request must have 1 to \(limits.filtersPerRequest) filters")
        }
        if filters.contains(where: { $0.valueCount > limits.valuesPerFilter }) {
            return RefusalText(.invalid, "a filter has more than \(limits.valuesPerFilter) values")
        }
        return nil
    }

    private func subscriptionLimitRefusal(_ name: String) -> RefusalText? {
        let most = acceptance.limits.subscriptionsPerConnection
        guard feeds[name] == nil, feeds.count >= most else { return nil }
        return RefusalText(.restricted, "more than \(most) subscriptions")
    }

    private mutating func refuse(_ name: String, _ refusal: RefusalText) -> Action {
        .reply(withChallenge(.closed(subscription: name, message: refusal.message), refusal))
    }

    /// NIP-42: a client can log in only after it has the challenge, so the challenge precedes the first refusal.
    private mutating func withChallenge(_ message: RelayMessage, _ refusal: RefusalText) -> [RelayMessage] {
        guard refusal.prefix == .authenticationRequired, !challengeSent else { return [message] }
        challengeSent = true
        return [.authentication(challenge: challenge), message]
    }
}

// MARK: - Subscriptions

extension ClientSession {
    /// Handles a live event for a subscription; returns what to send now.
    mutating func delivered(_ event: LiveEvent, to name: String, serial: UInt64) -> SubscriptionFeed.Delivery {
        guard feeds[name]?.serial == serial else { return .drop }
        return feeds[name]?.delivered(event, heldLimit: acceptance.limits.backlogBytes) ?? .drop
    }

    /// Handles the end of stored events; returns the live events held until then, or nil if the subscription has ended.
    mutating func answered(_ name: String, serial: UInt64, snapshot: Int64) -> [LiveEvent]? {
        guard feeds[name]?.serial == serial else { return nil }
        return feeds[name]?.answered(snapshot: snapshot)
    }

    /// Ends the subscription after the store has failed.
    mutating func failed(_ name: String, serial: UInt64) -> RelayMessage? {
        guard feeds[name]?.serial == serial else { return nil }
        feeds[name] = nil
        return .closed(subscription: name, message: RefusalText(.error, "the store query failed").message)
    }
}

extension ClientMessage {
    /// Whether rate limits count the message. Other messages are cheaper to handle than to refuse.
    var isMetered: Bool {
        switch self {
        case .event, .request, .count, .authenticate: true
        case .close: false
        }
    }
}

extension Filter {
    /// Number of values in all lists.
    fileprivate var valueCount: Int {
        (ids?.count ?? 0) + (authors?.count ?? 0) + (kinds?.count ?? 0) + tags.values.reduce(0) { $0 + $1.count }
    }
}
