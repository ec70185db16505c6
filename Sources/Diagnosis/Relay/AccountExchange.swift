import Nostr

/// Exchange of events with one relay in a worker's order: subscribe, write, read back.
struct AccountExchange {
    /// Maximum number of pages of stored events that are read.
    private static let maximumPages = 20
    private static let unanswered = "timed out waiting for a response"

    let wire: RelayWire
    /// The account; nil writes with a throwaway key.
    let account: KeyPair?
    /// Authors whose key packages and relay lists are fetched.
    let authors: [PublicKey]
    let budget: ProbeBudget

    func run() async -> RelayRecord {
        var record = RelayRecord()
        record.echo = await echo()
        record.groupEvent = await groupEvent()
        record.giftWrap = await giftWrap()
        switch await stored() {
        case .success(let events): record.stored = events
        case .failure(let error): record.storedFailure = "\(error)"
        }
        record.wasChallenged = await wire.received.updates.contains {
            if case .message(.authentication) = $0 { true } else { false }
        }
        return record
    }

    // MARK: Writing

    private func echo() async -> RelayRecord.Attempt {
        let event = ThrowawayEvent.make(ThrowawayEvent.echoKind, by: account ?? ThrowawayEvent.keys())
        let (subscription, end) = await wire.subscribe(
            Filter(authors: [event.pubkey], kinds: [ThrowawayEvent.echoKind]), by: budget.deadline)
        switch end {
        case .closed(let text): return .refused(text)
        case .lost(let reason): return .lost(PlainText.of(reason))
        case .complete, .enough, .unanswered: break
        }
        let began = ContinuousClock.now
        if let failure = await failure(of: event) { return failure }
        let incoming = await wire.received.first(by: budget.deadline) { incoming in
            switch incoming {
            case .message(.event(subscription, event)), .ended: true
            default: false
            }
        }
        guard case .message? = incoming else { return .kept }
        return .returned(ContinuousClock.now - began)
    }

    private func groupEvent() async -> RelayRecord.Attempt {
        let (keys, group) = (ThrowawayEvent.keys(), ThrowawayEvent.keys().publicKey.hex)
        let event = ThrowawayEvent.make(
            .groupEvent, by: keys, [Tag("h", group), .expiration(at: ThrowawayEvent.now + 60)])
        let began = ContinuousClock.now
        if let failure = await failure(of: event) { return failure }
        let answer = await wire.query(
            Filter(kinds: [.groupEvent], tags: ["h": [group]]), expecting: [event.id], by: budget.deadline)
        let took = ContinuousClock.now - began
        // Ask for deletion too: relays without NIP-40 support would keep the event.
        _ = await failure(of: ThrowawayEvent.deletion(of: [event], by: keys))
        return answer.events.contains(event) ? .returned(took) : .kept
    }

    private func giftWrap() async -> RelayRecord.Attempt {
        let recipient = ThrowawayEvent.keys().publicKey.hex
        let tags = [Tag("p", recipient), Tag.expiration(at: ThrowawayEvent.now + 60)]
        return await failure(of: ThrowawayEvent.make(.giftWrap, by: ThrowawayEvent.keys(), tags)) ?? .kept
    }

    /// Publishes an event; returns nil if the relay has accepted it.
    private func failure(of event: Event) async -> RelayRecord.Attempt? {
        switch await wire.publish(event, by: budget.deadline).0 {
        case .accepted: nil
        case .refused(let text): .refused(text)
        case .unanswered: .lost(Self.unanswered)
        case .lost(let reason): .lost(PlainText.of(reason))
        }
    }

    // MARK: Reading

    /// Returns the authors' key packages and relay lists, read page by page: a relay may limit its answers.
    private func stored() async -> Result<[Event], NetworkError> {
        let deadline = budget.deadline
        var filter = Filter(authors: authors, kinds: AccountPresence.kinds)
        var events: [Event] = []
        var known: Set<EventID> = []
        for _ in 0..<Self.maximumPages {
            let page = await wire.query(filter, by: deadline)
            switch page.end {
            case .complete, .enough: break
            case .closed(let text): return .failure(NetworkError(text))
            case .lost(let reason): return .failure(NetworkError(PlainText.of(reason)))
            case .unanswered: return .failure(NetworkError(Self.unanswered))
            }
            let new = page.events.filter { known.insert($0.id).inserted }
            guard !new.isEmpty else { break }
            events += new
            filter.until = page.events.map(\.createdAt).min()
        }
        return .success(events)
    }
}
