import Logging
import MLS
import Metrics
import Nostr
import Synchronization

/// Performs effects: the only place that awaits the transport, the store's reads and the clock. Results go back into
/// the mailbox.
final class EffectRunner: Sendable {
    private let transport: any RelayTransport
    private let store: any CoreStore
    private let media: any MediaStore
    private let files: MediaReader
    private let cache: any MediaCache
    private let callMedia: any CallMediaTransport
    private let callHub: CallMediaHub
    private let signer: (any RemoteSigner)?
    private let clock: any CoreClock
    private let mailbox: Mailbox
    private let hub: UpdateHub
    private let desk: VitalsDesk
    private let events: AsyncStream<CoreEvent>.Continuation
    private let observer: any CoreObserver
    private let logger: Logger
    private let calls = Atomic<Int>(0)
    private let currentRev = Atomic<UInt64>(0)
    /// The time limit of a search for stored events.
    private static let fetchTimeout = Duration.seconds(10)
    private static let pageSize = 50

    init(
        transport: any RelayTransport, store: any CoreStore, media: any MediaStore, files: MediaReader,
        cache: any MediaCache, callMedia: any CallMediaTransport, callHub: CallMediaHub,
        signer: (any RemoteSigner)?, clock: any CoreClock, mailbox: Mailbox, hub: UpdateHub,
        desk: VitalsDesk, events: AsyncStream<CoreEvent>.Continuation, observer: any CoreObserver, logger: Logger
    ) {
        self.transport = transport
        self.store = store
        self.media = media
        self.files = files
        self.cache = cache
        self.callMedia = callMedia
        self.callHub = callHub
        self.signer = signer
        self.clock = clock
        self.mailbox = mailbox
        self.hub = hub
        self.desk = desk
        self.events = events
        self.observer = observer
        self.logger = logger
    }

    /// The rev of the newest snapshot, which outcomes refer to.
    var rev: UInt64 {
        get { self.currentRev.load(ordering: .relaxed) }
        set { self.currentRev.store(newValue, ordering: .relaxed) }
    }

    /// Transport and store calls in flight; waiting for the clock does not count.
    var callCount: Int { self.calls.load(ordering: .sequentiallyConsistent) }

    func close() {
        self.events.finish()
    }

    /// Performs one effect: at once if it is short, otherwise in a child task that ends with the core.
    ///
    /// Relays and subscriptions are set in the order of the effects, so the last one wins.
    func perform(_ effect: AppEffect, in group: inout ThrowingDiscardingTaskGroup<any Error>) async {
        switch effect {
        case .deliver(let event):
            EventCounters.count(event)
            self.events.yield(event)
        case .keepSetAside(let subject, let event): self.store.crashes.keep(event.json(), of: subject)
        case .changeQuarantine(.forget, let subject): self.store.crashes.forget(subject)
        case .changeQuarantine(.releaseAtStart, let subject): self.store.crashes.releaseAtStart(subject)
        case .examined(let number, let vitals): self.desk.answer(number, vitals)
        case .finish(let request, let outcome):
            self.hub.publish(AppUpdate.finished(rev: self.rev, request: request, outcome: outcome))
        case .report(let chatID, let messageID, let delivery):
            self.hub.publish(.delivery(rev: self.rev, chatID: chatID, messageID: messageID, delivery))
        case .note(let note): self.count(note)
        case .observe(let notice): self.observer.note(notice)
        case .wake(let timer, let time):
            group.addTask {
                try? await self.clock.sleep(untilMilliseconds: time)
                if !Task.isCancelled { self.mailbox.send(.timer(timer)) }
            }
        case .startCallMedia(let plan):
            let session = CallMedia(plan, clock: self.clock)
            self.callHub.add(session)
            group.addTask {
                await session.run(self.callMedia, to: plan.url) { self.mailbox.send(.callMedia($0)) }
                self.callHub.remove(session)
            }
        case .setCallMedia(let callID, let isMuted, let isCameraOn):
            self.callHub.session(callID)?.set(isMuted: isMuted, isCameraOn: isCameraOn)
        case .stopCallMedia(let callID): self.callHub.stop(callID)
        case .reconnect: await self.transport.reconnect()
        case .nameEndpoints(let relays, let servers):
            await self.transport.nameRelays(relays)
            await self.media.nameServers(servers)
        case .setRelays(let relays): await self.transport.setRelays(relays)
        case .subscribe(let subscription): await self.transport.subscribe(subscription)
        case .unsubscribe(let id): await self.transport.unsubscribe(id)
        case .publish(let row, let event, let relays):
            // Handed over here, not in the child task, so that rows are published in order.
            let reports = await self.transport.publish(event, to: relays)
            self.call(in: &group) {
                for await report in reports {
                    self.mailbox.send(.published(row: row, report))
                }
                self.mailbox.send(.publishEnded(row: row, relays: relays))
            }
        case .fetch(let purpose, let filters, let relays):
            self.call(in: &group) {
                var outcomes = await self.transport.fetch(filters, from: relays, timeout: Self.fetchTimeout)
                for relay in relays where outcomes[relay] == nil { outcomes[relay] = .failed("no answer") }
                await self.mailbox.sendWhenRoom(.fetched(purpose, outcomes))
            }
        case .loadSent(let groupID, let epoch):
            self.call(in: &group) {
                let messages = try await self.sentMessages(in: groupID, fromEpoch: epoch)
                self.mailbox.send(.sentLoaded(groupID: groupID, messages))
            }
        case .loadUnsent(let groupID, let epoch):
            self.call(in: &group) {
                let messages = try await self.sentMessages(in: groupID, fromEpoch: epoch.earlier(by: 16))
                self.mailbox.send(.unsentLoaded(groupID: groupID, upToEpoch: epoch, messages))
            }
        case .loadNextExpiry:
            self.call(in: &group) { self.mailbox.send(.nextExpiry(try await self.store.nextExpiry())) }
        case .upload(let operation, let blobs, let servers):
            self.call(in: &group) {
                let result = await self.media.upload(blobs, to: servers)
                self.mailbox.send(.uploaded(operation: operation, result))
            }
        case .useKey(let job, let operation):
            guard let signer = self.signer else { preconditionFailure("a key at hand is used by the reducers") }
            self.call(in: &group) {
                let result: Result<KeyAnswer, SignerError>
                do throws(SignerError) { result = .success(try await operation.perform(with: signer)) } catch {
                    result = .failure(error)
                }
                self.mailbox.send(.keyUsed(job: job, result))
            }
        case .countSurplus(let rule, let limit):
            self.call(in: &group) {
                self.mailbox.send(.surplus(rule, try await self.store.surplus(rule, limit: limit)))
            }
        case .loadMessages(let groupID, let before, let limit, let opening, let request):
            self.call(in: &group) {
                let (messages, reachedStart) = try await self.page(in: groupID, before: before, limit: limit)
                self.mailbox.send(
                    .messagesLoaded(messages, opening: opening, reachedStart: reachedStart, request))
            }
        case .loadMessage(let groupID, let id, let request):
            self.call(in: &group) {
                let message = try await self.store.message(in: groupID, id: id)
                self.mailbox.send(.messageLoaded(groupID: groupID, id, message, request))
            }
        case .download(let file, let groupID, let request):
            self.call(in: &group) {
                let result = await self.download(file, of: groupID)
                self.mailbox.send(.downloaded(file, groupID: groupID, result, request))
            }
        }
    }

    /// The maximum number of pages read at once, because a member can fill a chat with messages that are not shown.
    private static let maximumPages = 20

    /// Reads pages of messages until `limit` of them can be shown, or no more are stored; newest first.
    private func page(
        in groupID: GroupID, before: StoredMessage.Position?, limit: Int
    ) async throws -> (messages: [StoredMessage], reachedStart: Bool) {
        var found: [StoredMessage] = []
        var shown = 0
        for _ in 0..<Self.maximumPages {
            // One more than needed, to tell whether older messages exist.
            let size = max(limit - shown, Self.pageSize) + 1
            let page = try await self.store.messages(in: groupID, before: found.last?.position ?? before, limit: size)
            for message in page.prefix(size - 1) where shown < limit {
                found.append(message)
                if CoreModel.isShown(message.rumor.kind) { shown += 1 }
                if shown == limit { return (found, message == page.last) }
            }
            if page.count < size { return (found, true) }
        }
        return (found, false)
    }

    private func download(_ file: MediaFile, of groupID: GroupID) async -> Result<String, AppCoreError> {
        do {
            let bytes = try await self.files.read(groupID: groupID, messageID: file.messageID, index: file.index)
            return .success(try await self.cache.keep(bytes, of: file))
        } catch {
            return .failure((error as? AppCoreError) ?? AppCoreError(.mediaFailed, "the file was not kept: \(error)"))
        }
    }

    /// Returns own messages from an epoch on. Epochs rise with time except where clocks differ, so the search stops at
    /// the first page without any message of these epochs.
    private func sentMessages(in groupID: GroupID, fromEpoch epoch: Epoch) async throws -> [StoredMessage] {
        var found: [StoredMessage] = []
        var before: StoredMessage.Position?
        while true {
            let page = try await self.store.messages(in: groupID, before: before, limit: Self.pageSize)
            found += page.filter { $0.isOwn && $0.epoch >= epoch }
            guard page.count == Self.pageSize, page.contains(where: { $0.epoch >= epoch }) else { return found }
            before = page.last?.position
        }
    }

    private func call(
        in group: inout ThrowingDiscardingTaskGroup<any Error>, _ body: @escaping @Sendable () async throws -> Void
    ) {
        self.calls.add(1, ordering: .sequentiallyConsistent)
        group.addTask {
            defer { self.calls.subtract(1, ordering: .sequentiallyConsistent) }
            do { try await body() } catch {
                // A failing store ends the core: with the mailbox closed its loop returns, and run() throws this error.
                self.mailbox.close()
                throw error
            }
        }
    }

    private func count(_ note: CoreNote) {
        switch note {
        case .refused(let reason, let detail):
            Counter(label: "bot_events_ignored_total", dimensions: [("reason", reason)]).increment()
            self.logger.debug("an event was refused", metadata: ["reason": "\(reason)", "detail": "\(detail)"])
        case .waiting(let reason):
            Counter(label: "bot_decrypt_failures_total", dimensions: [("reason", reason)]).increment()
            self.logger.debug("an event is kept for later", metadata: ["reason": "\(reason)"])
        case .limited(let scope):
            Counter(label: "bot_rate_limited_total", dimensions: [("scope", scope)]).increment()
            Counter(label: "bot_events_ignored_total", dimensions: [("reason", "rate_limited_\(scope)")]).increment()
        case .gaveUpWaiting:
            Counter(label: "bot_decrypt_failures_total", dimensions: [("reason", "gave_up")]).increment()
            self.logger.info("the oldest undecryptable event was given up")
        case .ahead(let seconds):
            self.logger.warning(
                "an event is ahead of this machine's clock and waits; this clock or the sender's is wrong",
                metadata: ["seconds": "\(seconds)"])
        case .clockOffset(let seconds): Gauge(label: "bot_clock_offset_seconds").record(seconds)
        case .clock(let offset, let isOff):
            if isOff {
                self.logger.warning(
                    """
                    this machine's clock is off: relays and members refuse or miss events, and events from its future wait; \
                    let the system keep the time (timedatectl set-ntp true)
                    """, metadata: ["offset_seconds": "\(offset)"])
            } else {
                self.logger.notice("this machine's clock is right again", metadata: ["offset_seconds": "\(offset)"])
            }
        case .commit(let result):
            Counter(label: "bot_commits_processed_total", dimensions: [("result", result)]).increment()
        case .sent(let milliseconds):
            Counter(label: "bot_sends_total", dimensions: [("result", "accepted")]).increment()
            if let milliseconds {
                Metrics.Timer(label: "bot_publish_duration_seconds").recordMilliseconds(milliseconds)
            }
        case .sendFailed(let reason):
            Counter(label: "bot_sends_total", dimensions: [("result", "failed")]).increment()
            self.logger.info("something could not be sent", metadata: ["reason": "\(reason)"])
        case .gaveUpEvent(let reason):
            Counter(label: "bot_inbox_given_up_total", dimensions: [("reason", reason)]).increment()
            self.logger.warning("an event was given up before it was handled", metadata: ["reason": "\(reason)"])
        case .gap(let relay, let gap):
            Counter(label: "bot_gap_events_total", dimensions: [("result", "recovered")]).increment(by: gap.recovered)
            Counter(label: "bot_gap_events_total", dimensions: [("result", "unknown")]).increment(by: gap.unknown)
            self.logger.info(
                "a relay was read since it connected",
                metadata: [
                    "relay": "\(relay)", "from": "\(gap.from.map(String.init) ?? "the beginning")", "to": "\(gap.to)",
                    "recovered": "\(gap.recovered)", "unknown": "\(gap.unknown)",
                ])
        case .restored(let groups):
            self.logger.notice(
                "restored from a backup; own messages wait until every group has fresh keys",
                metadata: ["groups": "\(groups)"])
        case .stateRolledBack(let groups):
            Counter(label: "bot_state_rollbacks_total").increment()
            self.logger.error(
                "relays hold messages of this account that this state never sent; it was rolled back or copied",
                metadata: ["groups": "\(groups)"])
        case .signer(let status): self.count(status)
        case .routingCollision(let nostrGroupID, let chatIDs):
            Counter(label: "bot_routing_collisions_total").increment()
            self.logger.warning(
                "several groups claim one nostr_group_id; each event goes to the group whose key opens it",
                metadata: [
                    "nostr_group_id": "\(nostrGroupID)", "groups": "\(chatIDs.joined(separator: " "))",
                ])
        case .overtaken(let chatID):
            Counter(label: "bot_groups_overtaken_total").increment()
            self.logger.error(
                "another copy of this account has changed a group's keys; only a new invitation leads back",
                metadata: ["chat": "\(chatID.prefix(8))"])
        case .rollback(let role):
            Counter(label: "pikabot_rollbacks_total", dimensions: [("committer", role.rawValue)]).increment()
        case .rollbackStorm(let chatID, let committer, let role):
            self.logger.warning(
                "one account keeps undoing the commits of a group",
                metadata: [
                    "chat": "\(chatID.prefix(8))", "committer": "\(committer.hex.prefix(8))",
                    "role": "\(role.rawValue)",
                ])
        }
    }

    private func count(_ status: AppState.SignerStatus) {
        switch status {
        case .unknown: break
        case .ready: self.logger.info("the remote signer answers")
        case .away(let reason):
            Counter(label: "bot_signer_failures_total", dimensions: [("reason", "away")]).increment()
            self.logger.warning(
                "the remote signer is away; what it is needed for waits", metadata: ["reason": "\(reason)"])
        case .refused(let reason):
            Counter(label: "bot_signer_failures_total", dimensions: [("reason", "refused")]).increment()
            self.logger.warning("the remote signer refused a request", metadata: ["reason": "\(reason)"])
        case .needsApproval(let url):
            self.logger.notice("the remote signer wants a request approved", metadata: ["url": "\(url)"])
        }
    }
}
