import Logging
import NIOCore
import Nostr

extension ClientConnection {
    /// Handles queued messages until one of them has to wait.
    func handleInbox() {
        // Sending can re-enter this method.
        guard !isHandlingInbox else { return }
        isHandlingInbox = true
        while phase == .open, !isBusy, let text = inbox.popFirst() { handle(text) }
        isHandlingInbox = false
        pump()
        resumeReading()
    }

    private func handle(_ text: ByteBuffer) {
        let json = Array(text.readableBytesView)
        do throws(NostrError) {
            let message = try ClientMessage(json: json)
            log(message)
            let isAddressLimited = message.isMetered && !core.consumeMessage(of: client)
            perform(session.received(message, now: core.now(), isAddressLimited: isAddressLimited))
        } catch {
            enqueue(MalformedMessage.reply(to: json, error))
        }
        pump()
    }

    private func log(_ message: ClientMessage) {
        guard let log = core.trafficLog else { return }
        switch message {
        case .event(let event): log.received(event, from: address)
        case .request(_, let filters): log.requested(filters, by: address)
        default: break
        }
    }

    private func perform(_ action: ClientSession.Action) {
        switch action {
        case .reply(let messages):
            messages.forEach(enqueue)
        case .store(let event):
            pendingEvents += 1
            core.writer.submit(GroupCommit.Submission(event: event, json: event.json(), origin: number))
        case .broadcast(let event, let messages):
            messages.forEach(enqueue)
            core.hub.broadcast(event)
        case .query(let serial, let name, let filters, let replaced):
            if let replaced { core.hub.unsubscribe(key(replaced)) }
            // Subscribe before querying the store, so that no event falls between the two.
            core.hub.subscribe(key(serial), name: name, filters: filters)
            query(serial, name, filters)
        case .count(let name, let filters):
            count(name, filters)
        case .unsubscribe(let serial):
            core.hub.unsubscribe(key(serial))
        case .nothing:
            break
        }
    }

    private func key(_ serial: UInt64) -> SubscriptionKey {
        SubscriptionKey(connection: number, serial: serial)
    }

    // MARK: Stored events

    private func query(_ serial: UInt64, _ name: String, _ filters: [Filter]) {
        guard let eventLoop = context?.eventLoop else { return }
        isAnswering = true
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        core.store.query(filters, limits: core.limits, now: core.now()) { result in
            // Encode here, on the reader's queue, to keep the work off the event loop.
            let frame = EventFrame(subscription: name)
            let answer = result.map { (events: $0.events.map(frame.message), snapshot: $0.snapshot) }
            eventLoop.execute { connection.value.answer(name, serial: serial, answer) }
        }
    }

    private func answer(
        _ name: String, serial: UInt64, _ result: Result<(events: [ByteBuffer], snapshot: Int64), any Error>
    ) {
        isAnswering = false
        if phase == .finishing { finish() }
        guard phase == .open else { return }
        switch result {
        case .success(let answer):
            if let held = session.answered(name, serial: serial, snapshot: answer.snapshot) {
                answer.events.forEach { outbox.append($0) }
                enqueue(.endOfStoredEvents(subscription: name))
                for event in held where !outbox.appendLive(event.message) { return disconnectSlowClient() }
            }
        case .failure(let error):
            logger.error("Stored events could not be read", metadata: ["error": "\(error)"])
            core.hub.unsubscribe(key(serial))
            if let closed = session.failed(name, serial: serial) { enqueue(closed) }
        }
        pump()
        handleInbox()
    }

    private func count(_ name: String, _ filters: [Filter]) {
        guard let eventLoop = context?.eventLoop else { return }
        isAnswering = true
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        core.store.count(filters, now: core.now()) { result in
            eventLoop.execute { connection.value.counted(name, result) }
        }
    }

    private func counted(_ name: String, _ result: Result<Int, any Error>) {
        isAnswering = false
        if phase == .finishing { finish() }
        guard phase == .open else { return }
        switch result {
        case .success(let count):
            enqueue(.count(subscription: name, count))
        case .failure(let error):
            logger.error("Stored events could not be counted", metadata: ["error": "\(error)"])
            let refusal = RefusalText(.error, "the store query failed")
            enqueue(.closed(subscription: name, message: refusal.message))
        }
        handleInbox()
    }

    // MARK: Deliveries from the hub

    func deliver(_ deliveries: [ConnectionDelivery]) {
        guard phase != .closed else { return }
        for delivery in deliveries {
            switch delivery {
            case .outcome(let event, let outcome):
                pendingEvents -= 1
                if phase != .closing { enqueue(session.reply(to: event, outcome: outcome)) }
            case .live(let event, let match):
                guard phase == .open else { continue }
                switch session.delivered(event, to: match.name, serial: match.key.serial) {
                case .send: if !outbox.appendLive(event.message) { return disconnectSlowClient() }
                case .drop: continue
                case .overflow: return disconnectSlowClient()
                }
            }
        }
        pump()
        if phase == .finishing { finish() } else { handleInbox() }
    }
}
