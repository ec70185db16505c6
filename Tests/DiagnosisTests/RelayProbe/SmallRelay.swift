import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Nostr
import Synchronization

/// A defect of a test relay.
enum RelayDefect: Hashable, Sendable {
    case none
    /// Acknowledges and delivers events, but stores none.
    case forgets
    case drops(Kind)
    /// Keeps one event per author and addressable kind, ignoring its `d` tag.
    case mergesSlots
    case refuses(Kind)
    case refusesEverything
    case neverResponds
    case noEndOfStored
    case omitsLiveDelivery
    case ignoresLimit
    case ignoresSince
    case returnsAtMost(Int)
    case allows(subscriptions: Int)
    /// The clock is ahead by this many seconds, and events from more than a minute ahead of it are refused.
    case clock(Int64)
    case refusesBackdated
    case refusesLarge(Int)
    case claims(String)
    case omitsInformation
    case refusesDuplicates
    case keepsDeleted
    case keepsExpired
    case limitsRate(after: Int)
    case requiresLogin(admits: Bool)
    case requiresLoginWithoutChallenge
    /// Accepts every login, but still requires one afterwards.
    case refusesDespiteLogin
    /// Fails queries by id for an event of this kind.
    case failsQuery(Kind, QueryFailure)
    case closesUnknown
    case closesTimes
    case closesLimits
    /// Sends its document slowly and without end.
    case trickles
    case sendsGarbage
    case forges
    case sendsUnasked
    case floods
    case disconnectsOnWrite
}

/// A relay's failure to answer a query.
enum QueryFailure: Hashable, Sendable {
    case closes, disconnects, isSilent
}

/// A minimal in-memory relay with at most one defect.
final class SmallRelay: Sendable {
    struct Client {
        let channel: any Channel
        var subscriptions: [String: [Filter]] = [:]
        var isKnown = false
        var written = 0
    }

    private struct State {
        var events: [Event] = []
        var seen: Set<EventID> = []
        var clients: [ObjectIdentifier: Client] = [:]
        var deletions = 0
    }

    private let state = Mutex(State())
    let defect: RelayDefect
    /// Yields once per connection.
    let visits: AsyncStream<Void>
    private let visit: AsyncStream<Void>.Continuation

    init(_ defect: RelayDefect) {
        self.defect = defect
        (visits, visit) = AsyncStream.makeStream()
    }

    /// The remaining events, and the number of deletions.
    var remaining: (events: [Event], deletions: Int) { state.withLock { ($0.events, $0.deletions) } }

    var now: UnixTime {
        if case .clock(let offset) = defect { SmallRelay.time + offset } else { SmallRelay.time }
    }

    func connected(_ channel: any Channel) {
        state.withLock { $0.clients[ObjectIdentifier(channel)] = Client(channel: channel) }
        visit.yield()
        switch defect {
        case .requiresLogin, .refusesDespiteLogin: send(.authentication(challenge: "who"), channel)
        case .sendsGarbage: for _ in 0..<3 { write("[\"WHAT\"", channel) }
        default: break
        }
    }

    func disconnected(_ channel: any Channel) { state.withLock { $0.clients[ObjectIdentifier(channel)] = nil } }

    func received(_ text: [UInt8], _ channel: any Channel) {
        guard defect != .neverResponds else { return }
        if case .refusesLarge(let most) = defect, text.count > most { return channel.close(promise: nil) }
        guard let message = try? ClientMessage(json: text) else { return send(.notice("what?"), channel) }
        switch message {
        case .event(let event): receive(event, channel)
        case .request(let id, let filters): answer(id, filters, channel)
        case .close(let id): state.withLock { $0.clients[ObjectIdentifier(channel)]?.subscriptions[id] = nil }
        case .authenticate(let event):
            let admits = defect == .requiresLogin(admits: true) || defect == .refusesDespiteLogin
            state.withLock { $0.clients[ObjectIdentifier(channel)]?.isKnown = admits }
            send(.ok(event.id, accepted: admits, message: admits ? "" : "restricted: you are nobody"), channel)
        case .count: break
        }
    }

    // MARK: Writing

    private func receive(_ event: Event, _ channel: any Channel) {
        if defect == .disconnectsOnWrite { return channel.close(promise: nil) }
        if let refusal = refusal(of: event, channel) {
            return send(.ok(event.id, accepted: false, message: refusal), channel)
        }
        let isNew = state.withLock { $0.seen.insert(event.id).inserted }
        guard isNew else {
            let accepted = defect != .refusesDuplicates
            return send(.ok(event.id, accepted: accepted, message: "duplicate: have it"), channel)
        }
        state.withLock { store(event, &$0) }
        send(.ok(event.id, accepted: true, message: ""), channel)
        guard defect != .omitsLiveDelivery else { return }
        let listeners = state.withLock { state in
            state.clients.values.flatMap { client in
                client.subscriptions.filter { $0.value.contains { $0.matches(event) } }.map { (client.channel, $0.key) }
            }
        }
        for (channel, id) in listeners { send(.event(subscription: id, event), channel) }
    }

    private func store(_ event: Event, _ state: inout State) {
        if event.kind == .deletion, let deletion = try? Deletion(event) {
            state.deletions += 1
            guard defect != .keepsDeleted else { return }
            state.events.removeAll { $0.pubkey == event.pubkey && deletion.eventIDs.contains($0.id) }
        } else if !event.kind.isEphemeral, defect != .forgets, defect != .drops(event.kind) {
            if defect == .mergesSlots, event.kind.isAddressable {
                state.events.removeAll { $0.pubkey == event.pubkey && $0.kind == event.kind }
            }
            state.events.append(event)
        }
    }

    private func refusal(of event: Event, _ channel: any Channel) -> String? {
        let client = state.withLock { state in
            state.clients[ObjectIdentifier(channel)]?.written += 1
            return state.clients[ObjectIdentifier(channel)]
        }
        switch defect {
        case .refuses(event.kind): return "blocked: not this kind"
        case .refusesEverything: return "blocked: nobody writes here"
        case .clock where event.createdAt > now + 60: return "invalid: created_at is in the future"
        case .clock where event.createdAt < now - 2 * 86_400 - 3600: return "invalid: created_at is too old"
        case .refusesBackdated where event.createdAt < now - 43_200: return "invalid: created_at is too old"
        case .limitsRate(let most) where client?.written ?? 0 > most: return "rate-limited: slow down"
        case .requiresLogin where client?.isKnown != true, .requiresLoginWithoutChallenge, .refusesDespiteLogin:
            return "auth-required: who is it?"
        default: return !event.isExpired(at: now) || defect == .keepsExpired ? nil : "invalid: expired"
        }
    }

    // MARK: Reading

    private func answer(_ id: String, _ filters: [Filter], _ channel: any Channel) {
        let client = state.withLock { state in
            state.clients[ObjectIdentifier(channel)]?.subscriptions[id] = filters
            return state.clients[ObjectIdentifier(channel)]
        }
        if let refusal = refusal(client) { return send(.closed(subscription: id, message: refusal), channel) }
        if let failure = failure(of: filters) {
            switch failure {
            case .closes: send(.closed(subscription: id, message: "blocked: not this"), channel)
            case .disconnects: channel.close(promise: nil)
            case .isSilent: break
            }
            return
        }
        var seen: Set<EventID> = []
        for event in filters.flatMap(stored) where seen.insert(event.id).inserted {
            send(.event(subscription: id, event), channel)
        }
        switch defect {
        case .forges: write("[\"EVENT\",\"\(id)\",\(forged())]", channel)
        case .sendsUnasked: send(.event(subscription: id, stray()), channel)
        case .floods: for _ in 0..<5_000 { send(.notice("and another thing"), channel) }
        default: break
        }
        if defect != .noEndOfStored { send(.endOfStoredEvents(subscription: id), channel) }
    }

    private func refusal(_ client: Client?) -> String? {
        switch defect {
        case .requiresLogin where client?.isKnown != true, .requiresLoginWithoutChallenge, .refusesDespiteLogin:
            "auth-required: who is it?"
        case .allows(let most) where client?.subscriptions.count ?? 0 > most: "error: too many subscriptions"
        default: nil
        }
    }

    private func failure(of filters: [Filter]) -> QueryFailure? {
        let known = state.withLock(\.events).filter { event in filters.contains { $0.ids != nil && $0.matches(event) } }
        let fails =
            switch defect {
            case .failsQuery(let kind, _): known.contains { $0.kind == kind }
            case .closesUnknown: filters.contains { $0.ids != nil } && !known.contains { !$0.isExpired(at: now) }
            case .closesTimes: filters.contains { $0.since != nil || $0.until != nil }
            case .closesLimits: filters.contains { $0.limit != nil }
            default: false
            }
        guard fails else { return nil }
        return if case .failsQuery(_, let failure) = defect { failure } else { .closes }
    }

    private func stored(_ asked: Filter) -> [Event] {
        var filter = asked
        if defect == .ignoresSince { (filter.since, filter.until) = (nil, nil) }
        let now = now
        let events = state.withLock(\.events)
            .filter { filter.matches($0) && (defect == .keepsExpired || !$0.isExpired(at: now)) }
            .sorted { $0.createdAt > $1.createdAt }
        if defect == .ignoresLimit { return events }
        let cap = if case .returnsAtMost(let most) = defect { most } else { 500 }
        return Array(events.prefix(min(asked.limit ?? cap, cap)))
    }

    private func stray() -> Event {
        var generator = SystemRandomNumberGenerator()
        let keys = KeyPair.generate(using: &generator)
        return UnsignedEvent(pubkey: keys.publicKey, createdAt: 1, kind: 1, content: "").signed(
            by: keys, using: &generator)
    }

    private func forged() -> String {
        let text = String(decoding: RelayMessage.event(subscription: "s", stray()).json(), as: UTF8.self)
        return String(text.dropFirst(#"["EVENT","s","#.count).dropLast()).replacing(
            #""created_at":1"#, with: #""created_at":2"#)
    }

    // MARK: Sending

    private func send(_ message: RelayMessage, _ channel: any Channel) {
        write(String(decoding: message.json(), as: UTF8.self), channel)
    }

    private func write(_ text: String, _ channel: any Channel) {
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)), promise: nil)
    }
}
