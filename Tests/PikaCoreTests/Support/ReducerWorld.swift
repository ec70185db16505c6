import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// A core's stored state in memory, built from its changes.
struct DurableState {
    var state = StoredState()
    var messages: [StoredMessage] = []
    /// Ids of withdrawn messages.
    var withdrawn: Set<EventID> = []
    var media: [StoredMedia] = []

    mutating func apply(_ change: StoreChange) {
        switch change {
        case .putKeyPackage(let package): self.state.keyPackages.append(package)
        case .deleteKeyPackage(let reference): self.state.keyPackages.removeAll { $0.reference == reference }
        case .putGroupHeader(let id, let header): self.change(id) { $0.header = header }
        case .updateGroup(let id, let changes):
            self.change(id) { group in
                if changes.replacesAll { group.records = [:] }
                for (record, value) in changes.records { group.records[record] = value }
            }
        case .deleteGroup(let id): self.state.groups.removeAll { $0.key == id }
        case .putMessage(let message):
            if !self.messages.contains(where: { $0.groupID == message.groupID && $0.id == message.id }) {
                self.messages.append(message)
            }
        case .moveMessage(let message):
            if let index = self.messages.firstIndex(where: { $0.groupID == message.groupID && $0.id == message.id }) {
                self.messages[index] = message
                self.withdrawn.remove(message.id)
            }
        case .withdrawMessages(let groupID, let points):
            self.withdrawn.formUnion(self.messages(in: groupID, atPoints: points).map(\.id))
        case .restoreMessages(let groupID, let points):
            self.withdrawn.subtract(self.messages(in: groupID, atPoints: points).map(\.id))
        case .reviveMessage(let message):
            if self.withdrawn.remove(message.id) != nil,
                let index = self.messages.firstIndex(where: { $0.groupID == message.groupID && $0.id == message.id })
            {
                self.messages[index] = message
            }
        case .deleteExpired(let time): self.messages.removeAll { ($0.expiresAt ?? .distantFuture) <= time }
        case .putMedia(let media): self.media.append(media)
        case .putSeen(let id, _): self.state.seen.insert(id, at: 0)
        case .putRefused(let id, _): self.state.refused.insert(id, at: 0)
        case .putWaiting(let event): self.state.waiting.append(event)
        case .deleteWaiting(let id): self.state.waiting.removeAll { $0.event.id == id }
        case .putInvite(let invite): self.state.invites.append(invite)
        case .deleteInvite(let wrapper): self.state.invites.removeAll { $0.wrapper == wrapper }
        case .putInbox(let row):
            self.state.inbox.removeAll { $0.id == row.id }
            self.state.inbox.append(row)
        case .deleteInbox(let id): self.state.inbox.removeAll { $0.id == id }
        case .putOutbox(let row):
            if !self.state.outbox.contains(where: { $0.id == row.id }) { self.state.outbox.append(row) }
        case .countOutboxAttempt(let id):
            if let row = self.state.outbox.firstIndex(where: { $0.id == id }) { self.state.outbox[row].attempts += 1 }
        case .settleOutbox(let id, let leftover):
            if let row = self.state.outbox.firstIndex(where: { $0.id == id }) {
                self.state.outbox[row].leftover = leftover
            }
        case .deleteOutbox(let id): self.state.outbox.removeAll { $0.id == id }
        case .advanceCursor(let name, let value):
            self.state.cursors[name] = max(value, self.state.cursors[name] ?? .min)
        case .putValue: break
        case .putMemo(let name, let content): self.state.memos[name] = content
        case .deleteSurplus(let rule, let limit):
            self.messages.removeAll(where: self.surplus(rule, limit: limit).contains)
        case .markRestoreHandled: self.state.instance.isRestored = false
        case .dropRow("inbox", let key): self.state.inbox.removeAll { "\($0.id)" == key }
        case .dropRow: break
        case .putInstance(let instance): self.state.instance = instance
        }
    }

    /// The messages that are part of their groups' histories.
    var shown: [StoredMessage] { self.messages.filter { !self.withdrawn.contains($0.id) } }

    func messages(in groupID: GroupID, atPoints points: [Bytes32]) -> [StoredMessage] {
        self.messages.filter { $0.groupID == groupID && $0.point.map(points.contains) ?? false }
    }

    func surplus(_ rule: MessageSurplus, limit: Int) -> [StoredMessage] {
        var found: [StoredMessage] = []
        for group in Dictionary(grouping: self.messages, by: \.groupID).values {
            let newestFirst = group.sorted { $0.position > $1.position }
            found += newestFirst.dropFirst(rule.beyondNewest ?? .max)
            found += newestFirst.prefix(rule.beyondNewest ?? .max).filter { $0.time < rule.before ?? .distantPast }
        }
        return Array(found.prefix(limit))
    }

    private mutating func change(_ id: [UInt8], _ body: (inout StoredGroup) -> Void) {
        var group =
            self.state.groups.first { $0.key == id } ?? StoredGroup(key: id, header: Secret([]), records: [:])
        body(&group)
        self.state.groups.removeAll { $0.key == id }
        self.state.groups.append(group)
    }
}

/// Accounts that share one relay; the tests decide when effects are performed.
struct ReducerWorld {
    static let start: UnixTime = 1_800_000_000
    static let relay: RelayURL = {
        do { return try RelayURL("wss://relay.example") } catch { preconditionFailure("\(error)") }
    }()

    struct Account {
        let keys: KeyPair
        var configuration: CoreConfiguration
        var model: CoreModel
        var durable = DurableState()
        /// Effects that have not been performed yet.
        var due: [AppEffect] = []
        /// Timers that the core has requested, with their times in Unix milliseconds.
        var timers: [(time: Int64, timer: CoreTimer)] = []
        var delivered: [CoreEvent] = []
        var outcomes: [String: ActionOutcome] = [:]
        var notes: [CoreNote] = []
        var notices: [CoreNotice] = []
        /// Reported outcomes of this account's messages, in order.
        var reports: [EventID: [AppState.Delivery]] = [:]
        /// Whether a signer holds the key, and the signer's error; with nil it signs.
        var isRemote = false
        var signerAnswer: SignerError?
        var ownKey: OwnKey { self.isRemote ? .remote(self.key) : .local(self.keys) }
        var key: PublicKey { self.keys.publicKey }
        var chatID: ChatID { self.model.state.chatList.first?.chatID ?? "" }
        /// A group of the first generation.
        var group: MarmotGroup? { self.model.groups.firsts.values.first }

        /// The group of the second generation.
        var second: ConvergingGroup? { self.model.groups.seconds.values.first }

        var texts: [String] {
            self.delivered.compactMap { if case .message(let message) = $0.content { message.content } else { nil } }
        }

        var withdrawals: [WithdrawnEvent] {
            self.delivered.compactMap { if case .withdrawn(let message) = $0.content { message } else { nil } }
        }

        var commits: [CommitEvent] {
            self.delivered.compactMap { if case .commit(let commit) = $0.content { commit } else { nil } }
        }

        /// Unanswered requests to the signer.
        var signerRequests: [(job: Int, operation: KeyOperation)] {
            self.due.compactMap { if case .useKey(let job, let operation) = $0 { (job, operation) } else { nil } }
        }

        var publishing: [(row: String, event: Event)] {
            self.due.compactMap { if case .publish(let row, let event, _) = $0 { (row, event) } else { nil } }
        }
    }

    /// The time in Unix milliseconds.
    var now = ReducerWorld.start.milliseconds
    var time: UnixTime { UnixTime(milliseconds: self.now) }
    var random = SplitMix64(seed: 7)
    var accounts: [Account] = []
    var relayed: [Event] = []

    init(
        _ count: Int, invites: CoreConfiguration.InvitePolicy = .anyone, selfUpdate: SelfUpdatePolicy = .never,
        remote: Set<Int> = [], groupProtocol: GroupProtocol = .v1
    ) throws {
        for index in 0..<count {
            let keys = KeyPair.generate(using: &self.random)
            let configuration = CoreConfiguration(
                relays: [ReducerWorld.relay], invites: invites, selfUpdate: selfUpdate, groupProtocol: groupProtocol)
            let isRemote = remote.contains(index)
            let model = try CoreModel(
                account: isRemote ? .remote(keys.publicKey) : .local(keys), configuration: configuration,
                stored: StoredState())
            self.accounts.append(
                Account(keys: keys, configuration: configuration, model: model, isRemote: isRemote))
        }
    }

    subscript(_ index: Int) -> Account { self.accounts[index] }

    /// Reduces as the core does: changes become durable, effects are queued.
    @discardableResult
    mutating func reduce(_ index: Int, _ inputs: CoreInput...) -> CoreStep {
        self.turn(index) { model, step in for input in inputs { model.reduce(input, &step) } }
    }

    /// Commits the given group data.
    mutating func change(_ index: Int, to data: GroupData) {
        let chatID = self[index].chatID
        self.turn(index) { model, step in
            do {
                let intent = GroupIntent(
                    number: 999, groupID: try model.groupID(ofChat: chatID), goal: .set(.name(data.name)))
                try model.commit(.update(data), for: intent, &step)
            } catch { Issue.record("unexpected error: \(error)") }
        }
    }

    @discardableResult
    private mutating func turn(_ index: Int, _ body: (inout CoreModel, inout CoreStep) -> Void) -> CoreStep {
        var step = CoreStep(
            nowMilliseconds: self.now, monotonicMilliseconds: self.now,
            random: CoreRandom(SplitMix64(seed: self.random.next())))
        body(&self.accounts[index].model, &step)
        self.accounts[index].model.storeChanges(&step)
        for change in step.changes { self.accounts[index].durable.apply(change) }
        for effect in step.effects {
            switch effect {
            case .deliver(let event): self.accounts[index].delivered.append(event)
            case .finish(let request, let outcome): self.accounts[index].outcomes[request.rawValue] = outcome
            case .note(let note): self.accounts[index].notes.append(note)
            case .observe(let notice): self.accounts[index].notices.append(notice)
            case .report(_, let id, let delivery): self.accounts[index].reports[id, default: []].append(delivery)
            case .wake(let timer, let time), .wakeMonotonic(let timer, let time):
                self.accounts[index].timers.append((time, timer))
                self.accounts[index].due.append(effect)
            default: self.accounts[index].due.append(effect)
            }
        }
        return step
    }

    @discardableResult
    mutating func act(_ index: Int, _ action: AppAction, _ request: String = "r") -> CoreStep {
        self.reduce(index, .action(action, RequestID(rawValue: request)))
    }

    mutating func say(_ index: Int, _ text: String) {
        self.act(index, .sendMessage(chatID: self[index].chatID, OutgoingMessage(content: text)), text)
    }

    mutating func receive(_ index: Int, _ event: Event) {
        self.reduce(index, .relay(.event(relay: ReducerWorld.relay, subscription: "groups", event)))
    }

    mutating func accept(_ index: Int, _ row: String) {
        self.reduce(
            index, .published(row: row, PublishReport(relay: ReducerWorld.relay, outcome: .accepted)),
            .publishEnded(row: row, relays: [ReducerWorld.relay]))
    }

    mutating func answer(_ index: Int, _ row: String, _ outcome: PublishReport.Outcome) {
        self.reduce(
            index, .published(row: row, PublishReport(relay: ReducerWorld.relay, outcome: outcome)),
            .publishEnded(row: row, relays: [ReducerWorld.relay]))
    }

    /// Performs effects until none are left: one good relay, which every account reads except those in `offline`.
    mutating func settle(offline: Set<Int> = []) {
        var isBusy = true
        while isBusy {
            isBusy = false
            for index in self.accounts.indices where !self.accounts[index].due.isEmpty {
                let effects = self.accounts[index].due
                self.accounts[index].due = []
                isBusy = true
                for effect in effects { self.perform(effect, index, offline) }
            }
        }
    }

    private mutating func perform(_ effect: AppEffect, _ index: Int, _ offline: Set<Int>) {
        switch effect {
        case .publish(let row, let event, _):
            self.relayed.append(event)
            self.accept(index, row)
            for reader in self.accounts.indices where !offline.contains(reader) { self.receive(reader, event) }
        case .fetch(let purpose, let filters, let relays):
            let found = self.relayed.filter { event in filters.contains { $0.matches(event) } }
            self.reduce(
                index, .fetched(purpose, Dictionary(uniqueKeysWithValues: relays.map { ($0, .events(found)) })))
        case .useKey(let job, let operation): self.sign(index, job, operation)
        case .loadSent(let groupID, let epoch):
            let messages = self[index].durable.shown.filter {
                $0.groupID == groupID && $0.isOwn && $0.epoch >= epoch
            }
            self.reduce(index, .sentLoaded(groupID: groupID, messages))
        case .loadWithdrawn(let groupID, let points):
            let messages = self[index].durable.messages(in: groupID, atPoints: points)
            self.reduce(index, .withdrawnLoaded(groupID: groupID, points: points, messages))
        case .loadUnsent(let groupID, let epoch):
            let messages = self[index].durable.messages.filter { $0.groupID == groupID && $0.isOwn }
            self.reduce(index, .unsentLoaded(groupID: groupID, upToEpoch: epoch, messages))
        case .countSurplus(let rule, let limit):
            self.reduce(index, .surplus(rule, self[index].durable.surplus(rule, limit: limit).count))
        case .loadNextExpiry:
            self.reduce(index, .nextExpiry(self[index].durable.messages.compactMap(\.expiresAt).min()))
        case .loadMessages(let groupID, let before, let limit, let opening, let request):
            let older = self[index].durable.shown.filter { message in
                message.groupID == groupID && before.map { message.position < $0 } ?? true
            }
            let page = older.sorted { $0.position > $1.position }.prefix(limit)
            self.reduce(
                index,
                .messagesLoaded(Array(page), opening: opening, reachedStart: page.count == older.count, request))
        case .loadMessage(let groupID, let id, let request):
            let message = self[index].durable.messages.first { $0.groupID == groupID && $0.id == id }
            self.reduce(index, .messageLoaded(groupID: groupID, id, message, request))
        default: break
        }
    }

    /// Answers a request to the remote signer.
    mutating func sign(_ index: Int, _ job: Int, _ operation: KeyOperation) {
        if let error = self[index].signerAnswer {
            self.reduce(index, .keyUsed(job: job, .failure(error)))
            return
        }
        var random = CoreRandom(SplitMix64(seed: self.random.next()))
        let result: Result<KeyAnswer, SignerError>
        do throws(NostrError) {
            result = .success(try operation.perform(with: self[index].keys, &random))
        } catch { result = .failure(SignerError(.refused, error.message)) }
        self.reduce(index, .keyUsed(job: job, result))
    }

    /// Advances the clock and fires due timers in order, settling after each.
    mutating func advance(seconds: Int64, offline: Set<Int> = []) {
        let end = self.now + seconds * 1000
        self.settle(offline: offline)
        while let next = self.accounts.flatMap({ $0.timers.map(\.time) }).min(), next <= end {
            self.now = max(self.now, next)
            for index in self.accounts.indices {
                let due = self.accounts[index].timers.filter { $0.time <= self.now }
                self.accounts[index].timers.removeAll { $0.time <= self.now }
                for entry in due { self.reduce(index, .timer(entry.timer)) }
            }
            self.settle(offline: offline)
        }
        self.now = end
    }

    /// Ends an account's process and starts it again from its durable state.
    mutating func restart(_ index: Int) throws {
        var account = self.accounts[index]
        account.model = try CoreModel(
            account: account.ownKey, configuration: account.configuration, stored: account.durable.state)
        account.due = []
        account.timers = []
        self.accounts[index] = account
        self.reduce(index, .started)
    }

    /// Adds a copy of an account, as a restore of its present state creates it, without starting it. Returns its index.
    mutating func copy(_ index: Int) -> Int {
        var copy = self.accounts[index]
        copy.durable.state.instance = StoredInstance(
            id: [UInt8(self.accounts.count)], generation: self.now, isRestored: true)
        copy.due = []
        copy.timers = []
        copy.delivered = []
        copy.notes = []
        self.accounts.append(copy)
        return self.accounts.count - 1
    }

    /// Connects an account to the relay, which is then read.
    mutating func connect(_ index: Int) {
        self.reduce(index, .relay(.state(relay: ReducerWorld.relay, .connected)))
        self.catchUp(index)
    }

    /// Performs only the due searches for stored events.
    mutating func catchUp(_ index: Int) {
        let effects = self.accounts[index].due
        self.accounts[index].due = effects.filter { if case .fetch = $0 { false } else { true } }
        for effect in effects { if case .fetch = effect { self.perform(effect, index, []) } }
    }

    /// A group of all accounts, started and founded by the first.
    static func group(
        _ count: Int, selfUpdate: SelfUpdatePolicy = .never, remote: Set<Int> = [],
        groupProtocol: GroupProtocol = .v1
    ) throws -> ReducerWorld {
        var world = try ReducerWorld(
            count, selfUpdate: selfUpdate, remote: remote, groupProtocol: groupProtocol)
        for index in 0..<count { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: world.accounts.dropFirst().map(\.key)), "create")
        world.settle()
        #expect(world.accounts.allSatisfy { $0.model.groups.count == 1 })
        return world
    }
}

extension CoreStep {
    /// The purposes of the stored outbox rows.
    var queued: [OutboxRow.Purpose] {
        self.changes.compactMap { if case .putOutbox(let row) = $0 { row.purpose } else { nil } }
    }

    func deletesGroup(_ id: [UInt8]) -> Bool {
        self.changes.contains { if case .deleteGroup(id) = $0 { true } else { false } }
    }
}

extension ActionOutcome {
    var failure: AppCoreError.Code? { if case .failed(let error) = self { error.code } else { nil } }
}
