import MLS
import Nostr

@testable import Marmot
@testable import PikaCore

/// One core with a store in memory and a scripted relay. Broken invariants trap.
struct CoreLab {
    enum Role {
        /// A member of the group.
        case member
        /// An account with a key package that is about to be invited.
        case newcomer
    }

    private let world: World
    /// The world of a group of the second generation; nil in the first.
    private let second: ComponentWorld?
    /// The members of the group, the admin first.
    private let people: [KeyPair]
    private let keys: KeyPair
    private let configuration: CoreConfiguration
    private var model: CoreModel
    private var store: CoreRows
    private var rng = RepeatableGenerator(seed: 12)
    private var nowMilliseconds: Int64
    /// An honest admin of the same group.
    private var admin: LabAdmin
    private var timers: [(time: Int64, timer: CoreTimer)] = []
    private var searches: [(purpose: FetchPurpose, relays: [RelayURL])] = []
    private var publications: [(row: String, relays: [RelayURL])] = []
    /// The events on the relay.
    private var relayed: [Event] = []
    /// The inbox row of each delivered message.
    private var delivered: [String: Int64] = [:]
    private var unhandled: [Int64] = []
    /// Whether the script has written into the store: then only traps are faults.
    private var isDamaged = false
    /// The core has rejected its state or ended by itself.
    private(set) var hasEnded = false

    init(_ world: World, _ role: Role) throws {
        self.world = world
        self.second = nil
        self.people = world.keys
        self.keys = role == .member ? world.keys[2] : world.newcomerKeys
        self.configuration = CoreConfiguration(
            relays: [world.relay], invites: .anyone, detectsCopies: true, readsProfiles: false)
        self.admin = .first(world.groups[0])
        self.nowMilliseconds = world.now.milliseconds
        self.store = CoreRows()
        switch role {
        case .member:
            let group = world.groups[2].stored
            self.store.state.groups = [
                StoredGroup(
                    key: StoredGroupKey(world.groups[2].groupID).bytes, header: group.header,
                    records: group.records)
            ]
        case .newcomer:
            self.store.state.keyPackages = [
                StoredKeyPackage(
                    reference: world.newcomer.keyPackage.reference, bundle: world.newcomer.stored,
                    slot: String(repeating: "22", count: 32), createdAt: world.now, notAfter: world.now + 86_400)
            ]
        }
        self.model = try CoreModel(account: self.keys, configuration: self.configuration, stored: self.store.state)
        self.reduce(.started)
    }

    /// A core in the second generation.
    init(_ world: World, _ second: ComponentWorld, _ role: Role) throws {
        self.world = world
        self.second = second
        self.people = second.people.map(\.keys)
        let person = role == .member ? second.people[2] : second.newcomer
        self.keys = person.keys
        self.configuration = CoreConfiguration(
            relays: [world.relay], invites: .anyone, detectsCopies: true, readsProfiles: false, groupProtocol: .v2)
        self.admin = .second([second.groups[0]])
        self.nowMilliseconds = world.now.milliseconds
        self.store = CoreRows()
        self.store.apply(.putMemo(MemoName(.deviceKey, []), person.device.stored))
        switch role {
        case .member:
            var group = ConvergingGroup(second.groups[2])
            for change in group.drainChanges().storeChanges(of: group.groupID) { self.store.apply(change) }
        case .newcomer:
            self.store.state.keyPackages = [
                StoredKeyPackage(
                    reference: person.bundle.keyPackage.reference, bundle: person.bundle.stored,
                    slot: ComponentWorld.slot, createdAt: world.now, notAfter: world.now + 86_400)
            ]
        }
        self.model = try CoreModel(account: self.keys, configuration: self.configuration, stored: self.store.state)
        self.reduce(.started)
    }

    private var now: UnixTime { UnixTime(milliseconds: self.nowMilliseconds) }

    // MARK: - Script

    mutating func perform(_ step: CoreScript.Step) {
        let data = step.data
        switch step.operation {
        case .frame: self.receive(frame: data)
        case .giftWrap: self.receive(rumor: data)
        case .plaintext:
            guard let message = self.admin.protect(data, using: &self.rng), let event = self.wrap(message) else {
                return
            }
            self.receive(event)
        case .message: if let event = self.wrap(data) { self.receive(event) }
        case .commit: self.commit(data.first ?? 0)
        case .action: self.act(data)
        case .relay: self.answer(data.first ?? 0)
        case .wait: self.wait(seconds: Int64(data.first ?? 1) * Int64(data.dropFirst().first ?? 1))
        case .restart: self.restart()
        case .row:
            self.isDamaged = true
            self.store.damage(data)
            self.restart()
        case .handled:
            guard let inboxID = self.unhandled.popLast() else { return }
            self.reduce(.handled(inboxID: inboxID, []))
        }
    }

    private mutating func receive(frame: [UInt8]) {
        guard let message = try? RelayMessage(json: frame) else { return }
        let relay = self.world.relay
        switch message {
        case .event(let subscription, let event):
            // Connections verify ids and signatures, so a changed event is signed again.
            let draft = UnsignedEvent(
                pubkey: self.people[0].publicKey, createdAt: event.createdAt, kind: event.kind, tags: event.tags,
                content: event.content)
            self.receive(draft.signed(by: self.people[0], using: &self.rng), subscription)
        case .ok(_, let accepted, let text):
            guard let publication = self.publications.popLast() else { return }
            self.report(publication, accepted ? .accepted : .refused(text))
        case .endOfStoredEvents(let subscription):
            self.reduce(.relay(.endOfStoredEvents(relay: relay, subscription: subscription)))
        case .closed(let subscription, let text):
            self.reduce(.relay(.closed(relay: relay, subscription: subscription, message: text)))
        case .notice, .authentication, .count: break
        }
    }

    private mutating func receive(rumor: [UInt8]) {
        guard let rumor = try? UnsignedEvent.parseRumor(rumor).event else { return }
        var draft = rumor
        draft.pubkey = self.people[0].publicKey
        guard
            let event = try? GiftWrap.wrap(
                draft, from: self.people[0], to: self.keys.publicKey, now: self.now, using: &self.rng)
        else { return }
        self.receive(event)
    }

    private mutating func receive(_ event: Event, _ subscription: String = "groups") {
        self.relayed.append(event)
        self.reduce(.relay(.event(relay: self.world.relay, subscription: subscription, event)))
    }

    private mutating func wrap(_ message: [UInt8]) -> Event? {
        self.admin.wrap(message, at: self.now, using: &self.rng)
    }

    private mutating func commit(_ choice: UInt8) {
        let made: (event: Event, welcomes: [DueWelcome])?
        if let second = self.second {
            made = self.admin.commit(choice, second, now: self.now, using: &self.rng)
        } else {
            made = self.commitInFirst(choice)
        }
        guard let made else { return }
        self.receive(made.event)
        for welcome in made.welcomes where welcome.recipient == self.keys.publicKey {
            self.receive(rumor: welcome.rumor.rumorJSON())
        }
    }

    private mutating func commitInFirst(_ choice: UInt8) -> (event: Event, welcomes: [DueWelcome])? {
        guard case .first(var group) = self.admin else { return nil }
        defer { self.admin = .first(group) }
        var data = group.data
        let change: GroupChange
        switch choice % 8 {
        case 0: change = .selfUpdate
        case 1:
            data.name += "+"
            change = .update(data)
        case 2: change = .remove([self.people[3].publicKey])
        case 3: change = .remove([self.keys.publicKey])
        case 4:
            guard let invitee = try? Invitee(self.world.newcomerEvents[0], now: self.world.now) else { return nil }
            change = .add([invitee])
        case 5:
            data.nostrGroupID = data.nostrGroupID.next
            change = .update(data)
        case 6:
            data.relays = []
            change = .update(data)
        default: change = .commitDepartures
        }
        guard let event = try? group.commit(change, client: "fuzz", now: self.now, using: &self.rng).event,
            let welcomes = try? group.mergePending().welcomes
        else { return nil }
        return (event, welcomes)
    }

    private mutating func act(_ data: [UInt8]) {
        let text = String(decoding: data.dropFirst(), as: UTF8.self)
        let chatID = self.model.state.chatList.first?.chatID ?? ChatID(rawValue: text)
        let peer = self.people[3].publicKey
        let action: AppAction
        switch (data.first ?? 0) % 12 {
        case 0: action = .sendMessage(chatID: chatID, OutgoingMessage(content: text))
        case 1: action = .updateGroupKeys(chatID: chatID)
        case 2: action = .renameGroup(chatID: chatID, name: text)
        case 3: action = .leaveGroup(chatID: chatID)
        case 4: action = .removeGroupMembers(chatID: chatID, peers: [peer])
        case 5: action = .reactToMessage(chatID: chatID, messageID: self.world.genuine.id, emoji: text)
        case 6: action = .openChat(chatID: chatID)
        case 7: action = .publishKeyPackage
        case 8: action = .createChat(peer: peer, name: text)
        case 9: action = .rotateGroupID(chatID: chatID)
        case 10: action = .typingStarted(chatID: chatID)
        default: action = .archiveChat(chatID: chatID, true)
        }
        self.reduce(.action(action, RequestID(rawValue: text)))
    }

    private mutating func answer(_ choice: UInt8) {
        let relay = self.world.relay
        switch choice % 6 {
        case 0: self.reduce(.relay(.state(relay: relay, .connected)))
        case 1: self.answerSearch(.events(self.relayed))
        case 2: if let publication = self.publications.popLast() { self.report(publication, .accepted) }
        case 3: self.reduce(.relay(.state(relay: relay, .disconnected)))
        case 4: self.answerSearch(.failed("timeout"))
        default:
            if let publication = self.publications.popLast() { self.report(publication, .unreachable("timeout")) }
        }
    }

    private mutating func answerSearch(_ outcome: FetchOutcome) {
        guard !self.searches.isEmpty else { return }
        let (purpose, relays) = self.searches.removeFirst()
        self.reduce(.fetched(purpose, Dictionary(relays.map { ($0, outcome) }) { first, _ in first }))
    }

    private mutating func report(_ publication: (row: String, relays: [RelayURL]), _ outcome: PublishReport.Outcome) {
        for relay in publication.relays {
            self.reduce(.published(row: publication.row, PublishReport(relay: relay, outcome: outcome)))
        }
        self.reduce(.publishEnded(row: publication.row, relays: publication.relays))
    }

    private mutating func wait(seconds: Int64) {
        self.nowMilliseconds += seconds * 1000
        let due = self.timers.filter { $0.time <= self.nowMilliseconds }
        self.timers.removeAll { $0.time <= self.nowMilliseconds }
        for entry in due { self.reduce(.timer(entry.timer)) }
    }

    private mutating func restart() {
        do {
            self.model = try CoreModel(
                account: self.keys, configuration: self.configuration, stored: self.store.state)
        } catch {
            precondition(self.isDamaged, "the core must accept its own stored rows: \(error)")
            self.hasEnded = true
            return
        }
        self.timers = []
        self.searches = []
        self.publications = []
        self.unhandled = []
        self.reduce(.started)
    }

    // MARK: - Core

    private mutating func reduce(_ input: CoreInput) {
        guard !self.hasEnded else { return }
        var step = CoreStep(
            nowMilliseconds: self.nowMilliseconds, monotonicMilliseconds: self.nowMilliseconds,
            random: CoreRandom(RepeatableGenerator(seed: self.rng.next())))
        self.model.reduce(input, &step)
        self.model.storeChanges(&step)
        for change in step.changes { self.store.apply(change) }
        for effect in step.effects { self.perform(effect) }
        self.checkBounds()
        self.hasEnded = self.model.failure != nil
    }

    private mutating func perform(_ effect: AppEffect) {
        switch effect {
        case .publish(let row, let event, let relays):
            self.relayed.append(event)
            self.publications.append((row, relays))
        case .fetch(let purpose, _, let relays): self.searches.append((purpose, relays))
        case .wake(let timer, let time), .wakeMonotonic(let timer, let time): self.timers.append((time, timer))
        case .deliver(let event): self.noteDelivery(event)
        default: break
        }
    }

    private mutating func noteDelivery(_ event: CoreEvent) {
        if !self.unhandled.contains(event.inboxID) { self.unhandled.append(event.inboxID) }
        guard !self.isDamaged, case .message(let message) = event.content else { return }
        let key = "\(event.chatID) \(message.id.hex)"
        precondition(self.delivered[key] ?? event.inboxID == event.inboxID, "a message must be delivered once")
        self.delivered[key] = event.inboxID
    }

    private func checkBounds() {
        let waiting = self.model.inbound.waiting.total
        precondition(waiting.events <= PendingEvents.standardAccount.events)
        precondition(waiting.bytes <= PendingEvents.standardAccount.bytes)
        precondition(self.model.catchUp.heldCount <= HeldLiveEvents.standard.events)
        precondition(self.model.catchUp.heldBytes <= HeldLiveEvents.standard.bytes)
        precondition(!self.model.groups.hasUnstoredChanges)
        for group in self.model.groups.seconds.values {
            // The tip, five epochs before it, an own commit in flight, and other branches.
            let most = 7 + GroupConvergence<ComponentBranch>.maximumUnselectedStates
            precondition(group.convergence.readableStates.count <= most)
        }
        precondition(self.isDamaged || self.model.state.outbox.pending == self.model.delivery.queue.count)
    }

    /// Answers all searches, restarts from the store, and checks that a member in the admin's epoch reads its messages.
    mutating func end() {
        guard !self.hasEnded, !self.isDamaged else { return }
        self.restart()
        // Open passes of the second generation end.
        for _ in 0..<4 where self.second != nil { self.wait(seconds: 6) }
        for _ in 0..<16 where !self.searches.isEmpty { self.answerSearch(.events([])) }
        guard !self.hasEnded, self.searches.isEmpty, let state = self.sharedState else { return }
        let rumor = UnsignedEvent(
            pubkey: self.people[0].publicKey, createdAt: self.now, kind: .chatMessage, content: "the last word")
        let id = rumor.id.hex
        // The script may contain messages of the same member that have consumed the next keys.
        for _ in 0...CoreScript.maximumSteps where !self.hasDelivered(id) {
            guard let event = self.admin.seal(rumor, in: state, now: self.now, using: &self.rng) else { return }
            self.receive(event)
            if self.second != nil { self.wait(seconds: 2) }
        }
        precondition(self.hasDelivered(id), "a member must read a valid message of its epoch")
    }

    private func hasDelivered(_ id: String) -> Bool { self.delivered.keys.contains { $0.hasSuffix(id) } }

    /// The epoch authenticator of a settled state that the member shares with the admin; nil if there is none.
    private var sharedState: Secret? {
        for group in self.model.groups.values where group.isActive {
            let state: Secret
            switch group {
            case .first(let group): state = group.mls.epochAuthenticator
            case .second(let group):
                guard group.convergence.status == .settled else { continue }
                state = group.tip.mls.epochAuthenticator
            }
            if self.admin.has(state) { return state }
        }
        return nil
    }
}
