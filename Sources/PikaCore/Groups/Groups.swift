import MLS
import Marmot
import Nostr

/// The MLS groups of this account, the groups that claim each routing id, and the changes that are not stored yet.
struct Groups: Sendable {
    /// The groups of the first generation.
    private(set) var firsts: [GroupID: MarmotGroup] = [:]
    /// The groups of the second generation.
    private(set) var seconds: [GroupID: ConvergingGroup] = [:]
    /// Groups with changes that are not in the step's changes yet.
    private var changed: Set<GroupID> = []
    /// Stored rows of replaced groups, to be deleted.
    private var replaced: [[UInt8]] = []
    private(set) var routes = GroupRoutes()
    /// Stored chat ids that were migrated when the state was read; durable with the first turn.
    private(set) var storedChatIDs = StoredChatIDs()

    var count: Int { self.firsts.count + self.seconds.count }
    var isEmpty: Bool { self.firsts.isEmpty && self.seconds.isEmpty }
    var hasUnstoredChanges: Bool { !self.changed.isEmpty || !self.replaced.isEmpty }
    var keys: [GroupID] { Array(self.firsts.keys) + Array(self.seconds.keys) }
    var values: [AccountGroup] {
        self.firsts.values.map(AccountGroup.first) + self.seconds.values.map(AccountGroup.second)
    }
    var all: [GroupID: AccountGroup] {
        var all = self.firsts.mapValues(AccountGroup.first)
        for (groupID, group) in self.seconds { all[groupID] = .second(group) }
        return all
    }

    /// A group of either generation, to read it.
    subscript(groupID: GroupID) -> AccountGroup? {
        if let group = self.firsts[groupID] { return .first(group) }
        return self.seconds[groupID].map(AccountGroup.second)
    }

    /// A group of the first generation, accessed in place; nil for others. The caller marks changes to be stored with
    /// ``markChanged(_:)``; refused events, which anyone can send, cause no changes.
    subscript(first groupID: GroupID) -> MarmotGroup? {
        get { self.firsts[groupID] }
        _modify { yield &self.firsts[groupID] }
    }

    /// A group of the second generation, accessed in place; nil for others. The caller marks changes to be stored with
    /// ``markChanged(_:)``.
    subscript(second groupID: GroupID) -> ConvergingGroup? {
        get { self.seconds[groupID] }
        _modify { yield &self.seconds[groupID] }
    }

    /// Adds a founded or joined group. It replaces a state of either generation with the same id, whose rows are
    /// deleted; the caller deletes the parts of a replaced state of the first generation.
    mutating func insert(_ group: AccountGroup) {
        let groupID = group.groupID
        if let known = self.seconds.removeValue(forKey: groupID) { self.replaced += known.storedKeys }
        switch group {
        case .first(let group): self.firsts[groupID] = group
        case .second(let group):
            if self.firsts.removeValue(forKey: groupID) != nil { self.replaced.append(StoredGroupKey(groupID).bytes) }
            self.seconds[groupID] = group
        }
        self.markChanged(groupID)
    }

    /// Adds a group that was read from the store.
    mutating func restore(_ group: AccountGroup) {
        switch group {
        case .first(let group): self.firsts[group.groupID] = group
        case .second(let group): self.seconds[group.groupID] = group
        }
    }

    /// Resumes the groups of the second generation with the clock of this process, at the start.
    mutating func resume(monotonicMilliseconds now: Int64) {
        for groupID in self.seconds.keys { self.seconds[groupID]?.resume(now: now) }
    }

    /// Marks a group's changes to be stored in the same turn.
    mutating func markChanged(_ groupID: GroupID) { self.changed.insert(groupID) }

    /// Appends the changes of groups to the step; called once for a whole batch of inputs.
    mutating func store(_ step: inout CoreStep) {
        for key in self.replaced { step.changes.append(.deleteGroup(key: key)) }
        self.replaced = []
        for groupID in self.changed {
            if let changes = self.firsts[groupID]?.drainChanges() { Self.store(changes, of: groupID, &step) }
            if let changes = self.seconds[groupID]?.drainChanges() { step.changes += changes.storeChanges(of: groupID) }
        }
        self.changed = []
    }

    private static func store(_ changes: MarmotGroupChanges, of groupID: GroupID, _ step: inout CoreStep) {
        let key = StoredGroupKey(groupID).bytes
        if let header = changes.header { step.changes.append(.putGroupHeader(key: key, header: header)) }
        step.changes.append(.updateGroup(key: key, changes.mls))
        for (part, content) in changes.parts {
            let key = StoredGroupKey(groupID, part).bytes
            guard let content else {
                step.changes.append(.deleteGroup(key: key))
                continue
            }
            step.changes.append(.putGroupHeader(key: key, header: content.header))
            step.changes.append(
                .updateGroup(
                    key: key,
                    GroupStorageChanges(replacesAll: true, records: content.records.mapValues { .some($0) })))
        }
    }

    // MARK: Routing ids

    /// Routes a group's current and former ids to it; other groups' claims to them stay.
    @discardableResult
    mutating func route(_ group: AccountGroup, enteredAt: UnixTime) -> (changed: Set<Bytes32>, released: Set<Bytes32>) {
        self.routes.set(
            [group.data.nostrGroupID] + group.formerNostrGroupIDs, of: group.groupID, enteredAt: enteredAt)
    }

    /// Returns the groups whose keys may open an event.
    func candidates(for event: Event) -> [GroupID] {
        guard let id = try? GroupEvents.nostrGroupID(of: event) else { return [] }
        return self.routes.candidates(for: id) { self[$0]?.isActive == true }
    }

    /// Returns the group whose keys may open an event; nil if there are several, or none.
    func onlyCandidate(for event: Event) -> GroupID? {
        let candidates = self.candidates(for: event)
        return candidates.count == 1 ? candidates.first : nil
    }

    /// Returns the group that an event belongs to: the candidate whose key opens it, else the first one.
    func group(of event: Event) -> GroupID? {
        let candidates = self.candidates(for: event)
        guard candidates.count > 1 else { return candidates.first }
        return candidates.first { self[$0]?.opens(event) == true } ?? candidates.first
    }

    /// Reports existing collisions, at the start.
    func noteCollisions(_ step: inout CoreStep) {
        for id in self.routes.ids(where: { _ in true }) { self.noteCollision(of: id, &step) }
    }

    /// Reports an id that several groups claim.
    func noteCollision(of id: Bytes32, _ step: inout CoreStep) {
        let groups = self.routes.groups(claiming: id)
        guard groups.count > 1 else { return }
        step.effects.append(.note(.routingCollision(nostrGroupID: id.hex, chatIDs: groups.map(ChatID.init(_:)))))
    }

    // MARK: Stored chat ids

    /// Migrates the chat ids in stored rows, once all groups are routed.
    mutating func migrateChatIDs(in stored: inout StoredState) {
        self.storedChatIDs = StoredChatIDs(migrating: &stored, self.routes)
    }

    /// Makes migrated chat ids durable, at the start.
    mutating func storeMigratedChatIDs(_ step: inout CoreStep) {
        step.changes += self.storedChatIDs.changes
        for _ in self.storedChatIDs.ambiguousInboxRows {
            step.effects.append(.note(.droppedEvent(reason: CountedReason.ambiguousChat.rawValue)))
        }
        self.storedChatIDs = StoredChatIDs()
    }
}

extension Groups: Sequence {
    // An array, because ``all`` would hash every group id again.
    func makeIterator() -> IndexingIterator<[(key: GroupID, value: AccountGroup)]> {
        let firsts = self.firsts.map { (key: $0.key, value: AccountGroup.first($0.value)) }
        let seconds = self.seconds.map { (key: $0.key, value: AccountGroup.second($0.value)) }
        return (firsts + seconds).makeIterator()
    }
}
