import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Nostr
import Synchronization

/// What a relay of a test does otherwise than it should.
enum Lie: Hashable, Sendable {
    case none
    /// Says OK, passes on, and keeps nothing.
    case forgets
    case drops(Kind)
    case refuses(Kind)
    case refusesEverything
    case saysNothing
    case noEndOfStored
    case passesNothingOn
    case ignoresLimit
    case ignoresSince
    case gives(most: Int)
    case bears(subscriptions: Int)
    /// Its clock is so many seconds ahead, and it takes nothing that is a minute off.
    case clock(Int64)
    case refusesBackdated
    case refusesLarge(Int)
    case saysOfItself(String)
    case saysNothingOfItself
    case refusesDuplicates
    case keepsDeleted
    case keepsExpired
    case hurriesNobody(after: Int)
    case wantsLogin(opens: Bool)
    case wantsLoginWithoutChallenge
    /// Lets everybody in, and wants a login even then.
    case wantsLoginForNothing
    /// Does so when it is asked for an event of this kind by its id.
    case asked(Kind, Rudeness)
    case closesUnknown
    case closesTimes
    case closesLimits
    /// Its document comes a little at a time and never ends.
    case trickles
    case talksGarbage
    case forges
    case sendsUnasked
    case sendsWithoutEnd
    case hangsUpOnWriting
}

/// What a relay does instead of an answer.
enum Rudeness: Hashable, Sendable {
    case closes, hangsUp, isSilent
}

/// A relay in memory that is as good as a relay has to be, but for one lie.
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
    let lie: Lie
    /// Who connected.
    let visits: AsyncStream<Void>
    private let visit: AsyncStream<Void>.Continuation

    init(_ lie: Lie) {
        self.lie = lie
        (visits, visit) = AsyncStream.makeStream()
    }

    /// What was not deleted, with how many times something was.
    var rest: (events: [Event], deletions: Int) { state.withLock { ($0.events, $0.deletions) } }

    var now: Int64 {
        if case .clock(let offset) = lie { SmallRelay.time + offset } else { SmallRelay.time }
    }

    func came(_ channel: any Channel) {
        state.withLock { $0.clients[ObjectIdentifier(channel)] = Client(channel: channel) }
        visit.yield()
        switch lie {
        case .wantsLogin, .wantsLoginForNothing: say(.authentication(challenge: "who"), channel)
        case .talksGarbage: for _ in 0..<3 { write("[\"WHAT\"", channel) }
        default: break
        }
    }

    func went(_ channel: any Channel) { state.withLock { $0.clients[ObjectIdentifier(channel)] = nil } }

    func heard(_ text: [UInt8], _ channel: any Channel) {
        guard lie != .saysNothing else { return }
        if case .refusesLarge(let most) = lie, text.count > most { return channel.close(promise: nil) }
        guard let message = try? ClientMessage(json: text) else { return say(.notice("what?"), channel) }
        switch message {
        case .event(let event): take(event, channel)
        case .request(let id, let filters): answer(id, filters, channel)
        case .close(let id): state.withLock { $0.clients[ObjectIdentifier(channel)]?.subscriptions[id] = nil }
        case .authenticate(let event):
            let opens = lie == .wantsLogin(opens: true) || lie == .wantsLoginForNothing
            state.withLock { $0.clients[ObjectIdentifier(channel)]?.isKnown = opens }
            say(.ok(event.id, accepted: opens, message: opens ? "" : "restricted: you are nobody"), channel)
        case .count: break
        }
    }

    // MARK: Writing

    private func take(_ event: Event, _ channel: any Channel) {
        if lie == .hangsUpOnWriting { return channel.close(promise: nil) }
        if let refusal = refusal(of: event, channel) {
            return say(.ok(event.id, accepted: false, message: refusal), channel)
        }
        let isNew = state.withLock { $0.seen.insert(event.id).inserted }
        guard isNew else {
            let accepted = lie != .refusesDuplicates
            return say(.ok(event.id, accepted: accepted, message: "duplicate: have it"), channel)
        }
        state.withLock { store(event, &$0) }
        say(.ok(event.id, accepted: true, message: ""), channel)
        guard lie != .passesNothingOn else { return }
        let listeners = state.withLock { state in
            state.clients.values.flatMap { client in
                client.subscriptions.filter { $0.value.contains { $0.matches(event) } }.map { (client.channel, $0.key) }
            }
        }
        for (channel, id) in listeners { say(.event(subscription: id, event), channel) }
    }

    private func store(_ event: Event, _ state: inout State) {
        if event.kind == .deletion, let deletion = try? Deletion(event) {
            state.deletions += 1
            guard lie != .keepsDeleted else { return }
            state.events.removeAll { $0.pubkey == event.pubkey && deletion.eventIDs.contains($0.id) }
        } else if !event.kind.isEphemeral, lie != .forgets, lie != .drops(event.kind) {
            state.events.append(event)
        }
    }

    private func refusal(of event: Event, _ channel: any Channel) -> String? {
        let client = state.withLock { state in
            state.clients[ObjectIdentifier(channel)]?.written += 1
            return state.clients[ObjectIdentifier(channel)]
        }
        switch lie {
        case .refuses(event.kind): return "blocked: not this kind"
        case .refusesEverything: return "blocked: nobody writes here"
        case .clock where event.createdAt > now + 60: return "invalid: created_at is in the future"
        case .clock where event.createdAt < now - 2 * 86_400 - 3600: return "invalid: created_at is too old"
        case .refusesBackdated where event.createdAt < now - 43_200: return "invalid: created_at is too old"
        case .hurriesNobody(let most) where client?.written ?? 0 > most: return "rate-limited: slow down"
        case .wantsLogin where client?.isKnown != true, .wantsLoginWithoutChallenge, .wantsLoginForNothing:
            return "auth-required: who is it?"
        default: return !event.isExpired(at: now) || lie == .keepsExpired ? nil : "invalid: expired"
        }
    }

    // MARK: Reading

    private func answer(_ id: String, _ filters: [Filter], _ channel: any Channel) {
        let client = state.withLock { state in
            state.clients[ObjectIdentifier(channel)]?.subscriptions[id] = filters
            return state.clients[ObjectIdentifier(channel)]
        }
        if let refusal = refusal(client) { return say(.closed(subscription: id, message: refusal), channel) }
        if let rudeness = rudeness(to: filters) {
            switch rudeness {
            case .closes: say(.closed(subscription: id, message: "blocked: not this"), channel)
            case .hangsUp: channel.close(promise: nil)
            case .isSilent: break
            }
            return
        }
        var seen: Set<EventID> = []
        for event in filters.flatMap(stored) where seen.insert(event.id).inserted {
            say(.event(subscription: id, event), channel)
        }
        switch lie {
        case .forges: write("[\"EVENT\",\"\(id)\",\(forged())]", channel)
        case .sendsUnasked: say(.event(subscription: id, stray()), channel)
        case .sendsWithoutEnd: for _ in 0..<5_000 { say(.notice("and another thing"), channel) }
        default: break
        }
        if lie != .noEndOfStored { say(.endOfStoredEvents(subscription: id), channel) }
    }

    private func refusal(_ client: Client?) -> String? {
        switch lie {
        case .wantsLogin where client?.isKnown != true, .wantsLoginWithoutChallenge, .wantsLoginForNothing:
            "auth-required: who is it?"
        case .bears(let most) where client?.subscriptions.count ?? 0 > most: "error: too many subscriptions"
        default: nil
        }
    }

    private func rudeness(to filters: [Filter]) -> Rudeness? {
        let known = state.withLock(\.events).filter { event in filters.contains { $0.ids != nil && $0.matches(event) } }
        let isRude =
            switch lie {
            case .asked(let kind, _): known.contains { $0.kind == kind }
            case .closesUnknown: filters.contains { $0.ids != nil } && !known.contains { !$0.isExpired(at: now) }
            case .closesTimes: filters.contains { $0.since != nil || $0.until != nil }
            case .closesLimits: filters.contains { $0.limit != nil }
            default: false
            }
        guard isRude else { return nil }
        return if case .asked(_, let rudeness) = lie { rudeness } else { .closes }
    }

    private func stored(_ asked: Filter) -> [Event] {
        var filter = asked
        if lie == .ignoresSince { (filter.since, filter.until) = (nil, nil) }
        let now = now
        let events = state.withLock(\.events)
            .filter { filter.matches($0) && (lie == .keepsExpired || !$0.isExpired(at: now)) }
            .sorted { $0.createdAt > $1.createdAt }
        if lie == .ignoresLimit { return events }
        let cap = if case .gives(let most) = lie { most } else { 500 }
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

    // MARK: Saying

    private func say(_ message: RelayMessage, _ channel: any Channel) {
        write(String(decoding: message.json(), as: UTF8.self), channel)
    }

    private func write(_ text: String, _ channel: any Channel) {
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)), promise: nil)
    }
}
