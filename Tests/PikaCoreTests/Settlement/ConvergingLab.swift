import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot
@testable import PikaCore

/// Members of one group of the second generation, each with its stored rows; the test decides who receives which event.
struct ConvergingLab {
    static let start: UnixTime = 1_800_000_000

    struct Member {
        let keys: KeyPair
        let device: DeviceKey
        var group: ConvergingGroup
        var durable = DurableState()
        var texts: [String] = []
        /// The last disposition of each message.
        var dispositions: [Bytes32: InputDisposition] = [:]
        var key: PublicKey { self.keys.publicKey }
    }

    /// An account with a key package, not in the group yet.
    struct Newcomer {
        let keys: KeyPair
        let device: DeviceKey
        let bundle: KeyPackageBundle
        let invitee: ComponentInvitee
    }

    var random: CoreRandom
    /// The monotonic clock.
    var now: Int64 = 10_000
    var members: [Member] = []

    /// A group of `count` members at epoch 1, of which the first `joining` join; all are stored.
    init(_ count: Int, admins: Int = 1, joining: Int = .max, seed: UInt64 = 3) throws {
        self.random = CoreRandom(SplitMix64(seed: seed))
        var newcomers: [Newcomer] = []
        for _ in 0..<count { newcomers.append(try self.newcomer()) }
        let plan = GroupPlan(
            profile: try GroupProfileState(name: "Lab"),
            admins: try AdminPolicy(newcomers.prefix(admins).map(\.keys.publicKey)),
            routing: try NostrRouting(
                nostrGroupID: try #require(Bytes32([UInt8](repeating: 7, count: 32))), relays: ["wss://relay.example"]),
            features: .bare, retentionSeconds: 0)
        let (group, welcomes) = try ComponentGroup.found(
            plan, by: newcomers[0].device, inviting: newcomers.dropFirst().map(\.invitee), limits: .unlimited,
            now: Self.start, using: &self.random)
        self.add(newcomers[0], group)
        for (newcomer, welcome) in zip(newcomers.prefix(joining).dropFirst(), welcomes) {
            try self.join(newcomer, welcome)
        }
    }

    mutating func newcomer() throws -> Newcomer {
        let keys = KeyPair.generate(using: &self.random)
        let device = try DeviceKey.generate(for: keys, now: Self.start, using: &self.random)
        let bundle = try device.keyPackage(now: Self.start, using: &self.random)
        let event = try DeviceKey.announcement(of: bundle.keyPackage, slot: String(repeating: "2", count: 64))
            .draft(by: keys.publicKey, now: Self.start).signed(by: keys, using: &self.random)
        return Newcomer(
            keys: keys, device: device, bundle: bundle, invitee: try ComponentInvitee(examining: event, now: Self.start)
        )
    }

    mutating func join(_ newcomer: Newcomer, _ welcome: DueWelcome) throws {
        let joined = try ComponentGroup.join(
            WelcomeInvitation(welcome.rumor), with: newcomer.bundle, account: newcomer.keys.publicKey,
            known: KnownGroups())
        self.add(newcomer, joined.group)
    }

    private mutating func add(_ newcomer: Newcomer, _ group: ComponentGroup) {
        self.members.append(Member(keys: newcomer.keys, device: newcomer.device, group: ConvergingGroup(group)))
        self.store(self.members.count - 1)
    }

    subscript(_ index: Int) -> Member { self.members[index] }

    // MARK: Storage

    /// Stores a member's changes; returns them.
    @discardableResult
    mutating func store(_ index: Int) -> [StoreChange] {
        let groupID = self.members[index].group.groupID
        let changes = self.members[index].group.drainChanges().storeChanges(of: groupID)
        for change in changes { self.members[index].durable.apply(change) }
        return changes
    }

    /// The member's group, restored from its rows.
    func restored(_ index: Int) throws -> ConvergingGroup {
        var stored = StoredConvergingGroup()
        for row in self.members[index].durable.state.groups {
            stored.add(row, as: try #require(StoredConvergingKey(stored: row.key)).part)
        }
        var group = try ConvergingGroup(restoring: stored, account: self.members[index].key, now: 0)
        group.resume(now: self.now)
        return group
    }

    /// Ends a member's process and starts it again from its rows.
    mutating func restart(_ index: Int) throws { self.members[index].group = try self.restored(index) }

    /// Stores a member's changes, and expects that the rows lead to the same group and that no others are left.
    mutating func expectStored(_ index: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        self.store(index)
        let (live, restored) = (self.members[index].group, try self.restored(index))
        let (old, new) = (live.convergence, restored.convergence)
        let (nodes, restoredNodes) = (old.states.all, new.states.all)
        #expect(old.states.history == new.states.history, sourceLocation: sourceLocation)
        #expect(nodes.map(\.point) == restoredNodes.map(\.point), sourceLocation: sourceLocation)
        #expect(nodes.map(\.witnesses) == restoredNodes.map(\.witnesses), sourceLocation: sourceLocation)
        #expect(nodes.map(\.wasSelected) == restoredNodes.map(\.wasSelected), sourceLocation: sourceLocation)
        #expect(
            nodes.map { $0.state.group.mls.epochAuthenticator }
                == restoredNodes.map { $0.state.group.mls.epochAuthenticator }, sourceLocation: sourceLocation)
        #expect(old.inputs.items == new.inputs.items, sourceLocation: sourceLocation)
        #expect(old.inputs.closed.items == new.inputs.closed.items, sourceLocation: sourceLocation)
        #expect(old.own.pending?.input == new.own.pending?.input, sourceLocation: sourceLocation)
        #expect(old.own.abandoned.map(\.input) == new.own.abandoned.map(\.input), sourceLocation: sourceLocation)
        #expect(
            old.schedule.stored == new.schedule.stored && old.halt == new.halt, sourceLocation: sourceLocation)
        #expect(
            live.ownCommits.map(\.digest).sorted() == restored.ownCommits.map(\.digest).sorted(),
            sourceLocation: sourceLocation)
        #expect(live.tip.mls.records == restored.tip.mls.records, sourceLocation: sourceLocation)
        #expect(live.tip.state == restored.tip.state, sourceLocation: sourceLocation)
        #expect(live.convergence.tip.standing == restored.convergence.tip.standing, sourceLocation: sourceLocation)
        #expect(live.outerKeyRing.marks == restored.outerKeyRing.marks, sourceLocation: sourceLocation)
        let tip = self.members[index].durable.state.groups.first { $0.key.first == 6 }
        #expect(tip?.records == live.tip.mls.records, sourceLocation: sourceLocation)
        let keys = Set(self.members[index].durable.state.groups.map(\.key))
        #expect(keys == Set(live.storedKeys) && keys == Set(restored.storedKeys), sourceLocation: sourceLocation)
    }

    // MARK: Events

    mutating func say(_ text: String, by index: Int) throws -> Event {
        let rumor = UnsignedEvent(
            pubkey: self.members[index].key, createdAt: Self.start, kind: .chatMessage, content: text)
        return try self.members[index].group.seal(rumor, using: &self.random).sealed.event
    }

    mutating func stage(_ change: ComponentChange, by index: Int) throws -> Event {
        try self.members[index].group.stage(
            change, limits: .common, at: Self.start, now: self.now, using: &self.random)
    }

    /// Commits, and applies the commit at its author.
    @discardableResult
    mutating func commit(_ change: ComponentChange, by index: Int) throws -> (event: Event, welcomes: [DueWelcome]) {
        (try self.stage(change, by: index), self.confirm(index))
    }

    /// Confirms a member's pending commit; returns its invitations.
    @discardableResult
    mutating func confirm(_ index: Int) -> [DueWelcome] {
        let (effects, welcomes) = self.members[index].group.confirmOwnCommit(now: self.now)
        self.note(effects, index)
        return welcomes
    }

    mutating func abandon(_ index: Int) { self.members[index].group.abandonOwnCommit(now: self.now) }

    mutating func leave(_ index: Int) throws -> OwnDeparture {
        try self.members[index].group.leave(at: Self.start, using: &self.random)
    }

    mutating func rename(_ name: String, by index: Int) throws -> Event {
        try self.commit(.profile(try GroupProfileState(name: name)), by: index).event
    }

    /// Delivers an event; false if no key opens it.
    @discardableResult
    mutating func deliver(_ event: Event, to index: Int) throws -> Bool {
        guard let message = try self.members[index].group.open(event) else { return false }
        self.note(self.members[index].group.receive(message, now: self.now), index)
        return true
    }

    /// Lets time pass for all members.
    mutating func advance(_ milliseconds: Int64) {
        self.now += milliseconds
        for index in self.members.indices { self.note(self.members[index].group.advance(now: self.now), index) }
    }

    private mutating func note(_ effects: [ConvergingGroup.Effect], _ index: Int) {
        for effect in effects {
            switch effect {
            case .delivered(let delivery):
                if let payload = try? delivery.message.payload.get() {
                    self.members[index].texts.append(payload.event.content)
                }
            case .disposed(let id, let disposition): self.members[index].dispositions[id] = disposition
            case .moved, .proposed, .settled, .halted: break
            }
        }
    }
}

extension AdmittedInputs {
    /// The admitted inputs in any order.
    fileprivate var items: Set<StoredInput> {
        let ids =
            self.commits.unordered.map(\.input.id) + self.proposals.unordered.map(\.input.id)
            + self.messages.unordered.map(\.input.id)
        return Set(ids.compactMap { self.storedInput($0)?.item })
    }
}

extension ClosedInputs {
    /// The final dispositions in any order.
    fileprivate var items: Set<StoredDisposition> {
        Set(
            self.entries.map { id, entry in
                StoredDisposition(id: id, epoch: entry.epoch, disposition: entry.disposition)
            })
    }
}
