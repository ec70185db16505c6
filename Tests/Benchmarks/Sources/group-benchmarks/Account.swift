import MLS
import Marmot
import Nostr
import PikaCore
import Storage

/// One account at the level of MDK's API: JSON in, JSON out. With a store, every call ends with its changes on disk, in
/// the same transactions as in the core; without one, the groups are plain values.
struct Account {
    static let client = "group-benchmarks"

    let publicKey: PublicKey
    let store: AccountStore?
    var groups: [GroupID: MarmotGroup] = [:]
    private var groupIDs: [Bytes32: GroupID] = [:]
    private var keyPackages: [[UInt8]: Secret] = [:]
    private var invites: [EventID: (rumor: UnsignedEvent, invitation: WelcomeEvents.Invitation)] = [:]
    private var inboxID: Int64 = 0
    private var sequence: Int64 = 0
    private var rng = SystemRandomNumberGenerator()

    init(_ publicKey: PublicKey, store: AccountStore? = nil) {
        self.publicKey = publicKey
        self.store = store
    }

    // MARK: Groups

    /// Founds a group with the owners of the given key package events, as MDK does: in one commit, with a Welcome that
    /// may be too large for a gift wrap.
    mutating func createGroup(
        _ name: String, keyPackages: [[UInt8]], now: UnixTime
    ) async throws -> (groupID: GroupID, welcomes: [[UInt8]]) {
        let invitees = try keyPackages.map { json in
            let event = try Event(json: json)
            try event.verify()
            return try Invitee(event, now: now)
        }
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &self.rng) }
        guard let nostrGroupID = Bytes32(bytes) else { throw Unexpected.outcome("no group id") }
        let data = GroupData(
            nostrGroupID: nostrGroupID, name: name, description: "", admins: [self.publicKey],
            relays: [try RelayURL(Crowd.relay)])
        let (group, due) = try MarmotGroup.create(
            data, founder: self.publicKey, inviting: invitees, client: Self.client, limits: .unlimited, now: now,
            using: &self.rng)
        let welcomes = due.map { $0.rumor.rumorJSON() }
        self.keep(group)
        try await self.save([group.groupID], welcomes: welcomes)
        return (group.groupID, welcomes)
    }

    /// Makes a commit; it is stored before it is published. Returns its event.
    mutating func commit(_ change: GroupChange, in groupID: GroupID, now: UnixTime) async throws -> [UInt8] {
        guard let own = try self.groups[groupID]?.commit(change, client: Self.client, now: now, using: &self.rng) else {
            throw Unexpected.outcome("no such group")
        }
        try await self.save([groupID], [self.outbox(own.event, .commit, groupID, nil)])
        return own.event.json()
    }

    /// Merges the commit once a relay has accepted it. Returns the invitations.
    mutating func confirm(_ groupID: GroupID) async throws -> [[UInt8]] {
        guard let (report, due) = try self.groups[groupID]?.mergePending() else {
            throw Unexpected.outcome("no such group")
        }
        let welcomes = due.map { $0.rumor.rumorJSON() }
        try await self.save(
            [groupID], [.putSeen(report.event, at: report.createdAt), .deleteOutbox(id: report.event.hex)],
            welcomes: welcomes)
        return welcomes
    }

    // MARK: Messages

    /// Encrypts a chat message. Returns the event.
    mutating func createMessage(_ content: String, in groupID: GroupID, now: UnixTime) async throws -> [UInt8] {
        let rumor = UnsignedEvent(pubkey: self.publicKey, createdAt: now, kind: .chatMessage, content: content)
        guard let event = try self.groups[groupID]?.seal(rumor, now: now, using: &self.rng),
            let epoch = self.groups[groupID]?.epoch
        else { throw Unexpected.outcome("no such group") }
        let json = event.json()
        guard self.store != nil else { return json }
        let id = rumor.id
        let message = StoredMessage(
            groupID: groupID, rumor: rumor, id: id, wrapper: event.id, epoch: epoch, isOwn: true)
        try await self.save(
            [groupID],
            [
                .putSeen(try Self.messageKey(id, groupID), at: now), .putMessage(message),
                self.outbox(event, .message, groupID, id),
            ])
        return json
    }

    /// Applies an event of a group. Returns the inner event of a message, nil for a commit.
    mutating func process(_ json: [UInt8], now: UnixTime) async throws -> [UInt8] {
        let event = try Event(json: json)
        try event.verify()
        guard let groupID = self.groupIDs[try GroupEvents.nostrGroupID(of: event)],
            let disposition = self.groups[groupID]?.ingest(event, now: now)
        else { throw Unexpected.outcome("no such group") }
        let seenChange = StoreChange.putSeen(event.id, at: now)
        switch disposition {
        case .message(let received):
            let rumor = received.rumor.rumorJSON()
            guard self.store != nil else { return rumor }
            let message = StoredMessage(
                groupID: groupID, rumor: received.rumor, id: received.id, wrapper: received.wrapper,
                epoch: received.epoch, isOwn: false)
            try await self.save(
                [groupID],
                [seenChange, .putSeen(try Self.messageKey(received.id, groupID), at: now), .putMessage(message)]
                    + self.inbox(rumor))
            return rumor
        case .commit(let report):
            try await self.save([groupID], [seenChange] + self.inbox(Array(report.committer.hex.utf8)))
            return []
        default: throw Unexpected.outcome("\(disposition)")
        }
    }

    private static func messageKey(_ id: EventID, _ groupID: GroupID) throws -> EventID {
        try EventID(bytes: SHA256Derivation.digest(groupID.bytes + id.bytes))
    }

    // MARK: Invitations

    mutating func add(_ package: Crowd.Package) async throws {
        let bundle = package.bundle
        self.keyPackages[bundle.keyPackage.reference] = bundle.stored
        let stored = StoredKeyPackage(
            reference: bundle.keyPackage.reference, bundle: bundle.stored, slot: Crowd.slot,
            createdAt: package.createdAt, notAfter: package.createdAt + Int64(KeyPackageEvents.lifetime))
        try await self.save([], [.putKeyPackage(stored)])
    }

    /// Reads an invitation and keeps it until it is accepted.
    mutating func processWelcome(_ json: [UInt8], wrapper: EventID, now: UnixTime) async throws {
        let rumor = try UnsignedEvent.parseRumor(json).event
        self.invites[wrapper] = (rumor, try WelcomeEvents.read(rumor))
        try await self.save(
            [], [.putSeen(wrapper, at: now), .putInvite(StoredInvite(wrapper: wrapper, rumor: rumor))])
    }

    /// Joins the group of an invitation. Returns its id.
    mutating func acceptWelcome(_ wrapper: EventID) async throws -> GroupID {
        guard let (_, invitation) = self.invites.removeValue(forKey: wrapper),
            let secrets = invitation.welcome.secrets.first(where: { self.keyPackages[$0.newMember] != nil }),
            let stored = self.keyPackages[secrets.newMember]
        else { throw Unexpected.outcome("no such invitation") }
        let group = try MarmotGroup.join(
            invitation, with: KeyPackageBundle(stored: stored), account: self.publicKey)
        self.keep(group)
        try await self.save(
            [group.groupID],
            [.deleteInvite(wrapper: wrapper)] + self.inbox(Array(invitation.inviter.hex.utf8)))
        return group.groupID
    }

    // MARK: Storage

    /// Reads all groups back from the store.
    mutating func load() async throws {
        guard let state = try await self.store?.load() else { return }
        var parts: [GroupID: [GroupPart: StoredGroupPart]] = [:]
        for stored in state.groups {
            guard let (groupID, part) = try GroupKey.read(stored.key) else { continue }
            parts[groupID, default: [:]][part] = StoredGroupPart(header: stored.header, records: stored.records)
        }
        for stored in state.groups where try GroupKey.read(stored.key) == nil {
            let group = try MarmotGroup(
                header: stored.header, records: stored.records,
                parts: parts[GroupID(stored.key.dropFirst())] ?? [:],
                account: self.publicKey)
            self.keep(group)
        }
        self.inboxID = state.cursors["inbox-id"] ?? 0
    }

    private mutating func keep(_ group: MarmotGroup) {
        self.groups[group.groupID] = group
        self.groupIDs[group.data.nostrGroupID] = group.groupID
    }

    /// Commits one transaction: the given changes, changed groups, and outgoing invitations.
    private mutating func save(
        _ groupIDs: [GroupID], _ others: [StoreChange] = [], welcomes: [[UInt8]] = []
    ) async throws {
        guard let store = self.store else { return }
        var changes = others
        for groupID in groupIDs {
            guard let changed = self.groups[groupID]?.drainChanges() else { continue }
            let key = GroupKey.bytes(groupID)
            if let header = changed.header { changes.append(.putGroupHeader(key: key, header: header)) }
            changes.append(.updateGroup(key: key, changed.mls))
            for (part, content) in changed.parts {
                let key = GroupKey.bytes(groupID, part)
                guard let content else {
                    changes.append(.deleteGroup(key: key))
                    continue
                }
                changes.append(.putGroupHeader(key: key, header: content.header))
                let records = content.records.mapValues(Optional.some)
                changes.append(.updateGroup(key: key, GroupStorageChanges(replacesAll: true, records: records)))
            }
        }
        for welcome in welcomes {
            // The core stores them gift-wrapped; here they are stored unwrapped.
            self.sequence += 1
            changes.append(.putValue(scope: "welcome", key: String(self.sequence), value: welcome))
        }
        try await store.commit(changes)
    }

    private mutating func outbox(
        _ event: Event, _ purpose: OutboxRow.Purpose, _ groupID: GroupID, _ messageID: EventID?
    ) -> StoreChange {
        self.sequence += 1
        let relays = self.groups[groupID]?.data.relays ?? []
        return .putOutbox(
            OutboxRow(
                id: event.id.hex, sequence: self.sequence, event: event, relays: relays, purpose: purpose,
                groupID: groupID, messageID: messageID))
    }

    private mutating func inbox(_ payload: [UInt8]) -> [StoreChange] {
        self.inboxID += 1
        return [
            .putInbox(InboxRow(id: self.inboxID, payload: payload)),
            .advanceCursor(name: "inbox-id", to: self.inboxID),
        ]
    }
}

/// Results that a benchmark must not produce.
enum Unexpected: Error {
    case outcome(String)
}
