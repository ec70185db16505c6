import Errors
import Nostr
import PikaCore

/// The state that a ``LabNetwork`` guards with its lock.
struct NetworkState: Sendable {
    typealias Answer = @Sendable (PublishReport.Outcome) -> Void

    struct RelayState: Sendable {
        var relay = LabRelay()
        var downReason: String?
    }

    /// The connections of one transport.
    struct Link: Sendable {
        let name: String
        let updates: AsyncStream<RelayUpdate>.Continuation
        var relays: [RelayURL] = []
        var subscriptions: [RelaySubscription] = []
        /// The time of the newest event of each subscription at each relay.
        var newestSeen: [SubscriptionKey: UnixTime] = [:]
        /// Subscriptions that a relay has closed.
        var closed: Set<SubscriptionKey> = []
    }

    struct SubscriptionKey: Hashable, Sendable {
        let relay: RelayURL
        let subscription: String
    }

    struct Held: Sendable {
        let publication: LabNetwork.Publication
        /// The held outcome; nil while the event itself is held.
        let outcome: PublishReport.Outcome?
        let answer: Answer
    }

    struct Route: Hashable, Sendable {
        let member: String
        let relay: RelayURL
    }

    struct Delayed: Sendable {
        let link: Int
        let relay: RelayURL
        let update: RelayUpdate
    }

    var relays: [RelayURL: RelayState] = [:]
    var cuts: Set<Route> = []
    /// Members that have not retried a relay since it came back.
    var waiting: Set<Route> = []
    var stalled: Set<Route> = []
    /// Updates that stalled connections have not delivered yet, in order.
    var delayed: [Delayed] = []
    var links: [Int: Link] = [:]
    var held: [Held] = []
    var publications: [(publication: LabNetwork.Publication, verdict: LabNetwork.Verdict)] = []
    var repeats = 1
    /// The faults of relays that misbehave.
    var dice: [RelayURL: LabRelayFaults.Dice] = [:]
    /// The traffic counts, by member name.
    var traffic: [String: LabTraffic] = [:]
    /// The arrivals of group events, by member name; nil while they are not recorded.
    var arrivals: LabArrivals?
    private var nextLink = 0

    mutating func addLink(_ link: Link) -> Int {
        self.nextLink += 1
        self.links[self.nextLink] = link
        return self.nextLink
    }

    /// Disconnects a transport: it receives nothing more, and its held publications are lost.
    mutating func cut(_ number: Int) {
        guard let link = self.links.removeValue(forKey: number) else { return }
        link.updates.finish()
        self.dropHeld { $0.sender == link.name }
    }

    // MARK: Publishing

    mutating func publish(
        _ publication: LabNetwork.Publication, _ verdict: LabNetwork.Verdict, _ answer: @escaping Answer
    ) {
        self.publications.append((publication, verdict))
        if let reason = self.downReason(publication.relay, for: publication.sender) {
            return answer(.unreachable(reason))
        }
        switch verdict {
        case .deliver: answer(self.accept(publication))
        case .refuse(let message): answer(.refused(message))
        case .hold: self.held.append(Held(publication: publication, outcome: nil, answer: answer))
        case .holdAnswer:
            let outcome = self.accept(publication)
            self.held.append(Held(publication: publication, outcome: outcome, answer: answer))
        case .lose: answer(.unreachable("no answer in time"))
        case .loseAnswer:
            _ = self.accept(publication)
            answer(.unreachable("no answer in time"))
        }
    }

    mutating func release() {
        let held = self.held
        self.held = []
        for one in held { one.answer(one.outcome ?? self.accept(one.publication)) }
    }

    private mutating func accept(_ publication: LabNetwork.Publication) -> PublishReport.Outcome {
        if self.occurs(\.feigned, at: publication.relay) { return .accepted }
        switch self.relays[publication.relay]?.relay.take(publication.event) {
        case .accepted(let isNew)?:
            if isNew { self.deliver(publication.event, from: publication.relay) }
            return .accepted
        case .refused(let message)?: return .refused(message)
        case nil: return .unreachable("no such relay")
        }
    }

    private mutating func dropHeld(where isLost: (LabNetwork.Publication) -> Bool) {
        for one in self.held where isLost(one.publication) { one.answer(.unreachable("the connection broke")) }
        self.held.removeAll { isLost($0.publication) }
    }

    // MARK: Connections

    func downReason(_ relay: RelayURL) -> String? {
        guard let state = self.relays[relay] else { return "no such relay" }
        return state.downReason
    }

    func downReason(_ relay: RelayURL, for member: String) -> String? {
        let route = Route(member: member, relay: relay)
        if self.cuts.contains(route) { return "the link is cut" }
        return self.waiting.contains(route) ? "waiting for another attempt" : self.downReason(relay)
    }

    mutating func cutOff(_ member: String, from relay: RelayURL) {
        guard self.downReason(relay, for: member) == nil else { return }
        self.cuts.insert(Route(member: member, relay: relay))
        self.dropHeld { $0.relay == relay && $0.sender == member }
        for link in self.orderedLinks
        where self.links[link]?.name == member && self.links[link]?.relays.contains(relay) == true {
            self.delayed.removeAll { $0.link == link && $0.relay == relay }
            self.links[link]?.updates.yield(.state(relay: relay, .retrying(attempt: 1, reason: "the link is cut")))
        }
    }

    mutating func heal() {
        let (cuts, delayed) = (self.cuts, self.delayed)
        self.cuts = []
        self.stalled = []
        self.delayed = []
        for late in delayed { self.yield(late.update, to: late.link) }
        for link in self.orderedLinks {
            guard let name = self.links[link]?.name, let relays = self.links[link]?.relays else { continue }
            for relay in relays where cuts.contains(Route(member: name, relay: relay)) { self.connect(link, to: relay) }
        }
    }

    mutating func takeDown(_ relay: RelayURL, reason: String) {
        guard self.relays[relay] != nil, self.downReason(relay) == nil else { return }
        self.relays[relay]?.downReason = reason
        self.dropHeld { $0.relay == relay }
        self.delayed.removeAll { $0.relay == relay }
        for link in self.orderedLinks where self.links[link]?.relays.contains(relay) == true {
            self.links[link]?.updates.yield(.state(relay: relay, .retrying(attempt: 1, reason: reason)))
        }
    }

    mutating func bringUp(_ relay: RelayURL) {
        guard self.relays[relay]?.downReason != nil else { return }
        self.relays[relay]?.downReason = nil
        self.waiting = self.waiting.filter { $0.relay != relay }
        for link in self.orderedLinks where self.links[link]?.relays.contains(relay) == true {
            self.connect(link, to: relay)
        }
    }

    mutating func bringUpUnnoticed(_ relay: RelayURL) {
        guard self.relays[relay]?.downReason != nil else { return }
        self.relays[relay]?.downReason = nil
        for link in self.links.values where link.relays.contains(relay) {
            self.waiting.insert(Route(member: link.name, relay: relay))
        }
    }

    /// Retries the relays that are not connected.
    mutating func reconnect(_ number: Int) {
        guard let link = self.links[number] else { return }
        for relay in link.relays where self.downReason(relay, for: link.name) != nil {
            self.waiting.remove(Route(member: link.name, relay: relay))
            self.connect(number, to: relay)
        }
    }

    mutating func setRelays(_ relays: [RelayURL], of number: Int) {
        guard let old = self.links[number]?.relays else { return }
        self.links[number]?.relays = relays
        for relay in old where !relays.contains(relay) {
            self.links[number]?.updates.yield(.state(relay: relay, .disconnected))
        }
        for relay in relays where !old.contains(relay) { self.connect(number, to: relay) }
    }

    var orderedLinks: [Int] { self.links.keys.sorted() }

    private mutating func connect(_ number: Int, to relay: RelayURL) {
        guard let link = self.links[number] else { return }
        link.updates.yield(.state(relay: relay, .connecting))
        if let reason = self.downReason(relay, for: link.name) {
            link.updates.yield(.state(relay: relay, .retrying(attempt: 1, reason: reason)))
            return
        }
        link.updates.yield(.state(relay: relay, .connected))
        self.traffic[link.name, default: LabTraffic()].connections += 1
        for subscription in link.subscriptions { self.ask(subscription, at: relay, for: number) }
    }

    // MARK: Subscriptions

    mutating func subscribe(_ subscription: RelaySubscription, of number: Int) {
        guard let link = self.links[number] else { return }
        self.unsubscribe(subscription.id, of: number)
        self.links[number]?.subscriptions.append(subscription)
        for relay in link.relays where self.downReason(relay, for: link.name) == nil {
            self.ask(subscription, at: relay, for: number)
        }
    }

    mutating func unsubscribe(_ id: String, of number: Int) {
        self.links[number]?.subscriptions.removeAll { $0.id == id }
        for key in self.links[number]?.newestSeen.keys.filter({ $0.subscription == id }) ?? [] {
            self.links[number]?.newestSeen[key] = nil
        }
    }

    /// Sends the events stored since the newest one seen, minus the overlap, then EOSE.
    private mutating func ask(_ subscription: RelaySubscription, at relay: RelayURL, for number: Int) {
        guard subscription.relays?.contains(relay) ?? true, let state = self.relays[relay] else { return }
        let key = SubscriptionKey(relay: relay, subscription: subscription.id)
        self.links[number]?.closed.remove(key)
        if self.occurs(\.closed, at: relay) {
            self.links[number]?.closed.insert(key)
            let message = "error: too many requests"
            self.links[number]?.updates.yield(.closed(relay: relay, subscription: subscription.id, message: message))
            return
        }
        let newest = self.links[number]?.newestSeen[key]
        let filters = subscription.filters.map { filter in
            var filter = filter
            if let newest { filter.since = max(filter.since ?? .distantPast, newest - subscription.overlap) }
            return filter
        }
        for event in state.relay.stored(matching: filters) {
            self.hand(event, from: relay, subscription.id, to: number)
        }
        if self.occurs(\.endless, at: relay) { return }
        self.links[number]?.updates.yield(.endOfStoredEvents(relay: relay, subscription: subscription.id))
    }

    /// Delivers a new event to all matching subscriptions.
    mutating func deliver(_ event: Event, from relay: RelayURL) {
        for number in self.orderedLinks {
            guard let link = self.links[number], link.relays.contains(relay),
                self.downReason(relay, for: link.name) == nil
            else { continue }
            for subscription in link.subscriptions where subscription.relays?.contains(relay) ?? true {
                guard subscription.filters.contains(where: { $0.matches(event) }),
                    !link.closed.contains(SubscriptionKey(relay: relay, subscription: subscription.id)),
                    !self.occurs(\.dropped, at: relay)
                else { continue }
                self.hand(event, from: relay, subscription.id, to: number)
            }
        }
    }

    mutating func hand(_ event: Event, from relay: RelayURL, _ subscription: String, to number: Int) {
        do { try event.verify() } catch {
            self.pass(.refused(relay: relay, reason: error.code.description), from: relay, to: number)
            return
        }
        let key = SubscriptionKey(relay: relay, subscription: subscription)
        let newest = self.links[number]?.newestSeen[key] ?? .distantPast
        self.links[number]?.newestSeen[key] = max(newest, event.createdAt)
        for _ in 0..<self.repeats + (self.occurs(\.repeated, at: relay) ? 1 : 0) {
            if let name = self.links[number]?.name { self.traffic[name, default: LabTraffic()].events += 1 }
            self.pass(.event(relay: relay, subscription: subscription, event), from: relay, to: number)
        }
    }

    private mutating func pass(_ update: RelayUpdate, from relay: RelayURL, to number: Int) {
        guard let link = self.links[number] else { return }
        if self.stalled.contains(Route(member: link.name, relay: relay)) {
            self.delayed.append(Delayed(link: number, relay: relay, update: update))
        } else {
            self.yield(update, to: number)
        }
    }

    private mutating func yield(_ update: RelayUpdate, to number: Int) {
        guard let link = self.links[number] else { return }
        if case .event(_, _, let event) = update { self.arrivals?.note(event, at: link.name) }
        link.updates.yield(update)
    }
}
