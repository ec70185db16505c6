import MLS
import Marmot
import Nostr

/// The MLS groups of this account, the groups that claim each routing id, and the changes that are not stored yet.
struct Groups: Sendable {
    private var groups: [GroupID: MarmotGroup] = [:]
    /// Groups with changes that are not in the step's changes yet.
    private var changed: Set<GroupID> = []
    private(set) var routes = GroupRoutes()
    /// Stored chat ids that were migrated when the state was read; durable with the first turn.
    private(set) var storedChatIDs = StoredChatIDs()

    var count: Int { self.groups.count }
    var isEmpty: Bool { self.groups.isEmpty }
    var all: [GroupID: MarmotGroup] { self.groups }
    var hasUnstoredChanges: Bool { !self.changed.isEmpty }
    var keys: Dictionary<GroupID, MarmotGroup>.Keys { self.groups.keys }
    var values: Dictionary<GroupID, MarmotGroup>.Values { self.groups.values }

    /// A group, accessed in place. The caller marks changes to be stored with ``markChanged(_:)``; refused events,
    /// which anyone can send, cause no changes.
    subscript(groupID: GroupID) -> MarmotGroup? {
        get { self.groups[groupID] }
        _modify { yield &self.groups[groupID] }
    }

    /// Marks a group's changes to be stored in the same turn.
    mutating func markChanged(_ groupID: GroupID) { self.changed.insert(groupID) }

    /// Appends the changes of groups to the step; called once for a whole batch of inputs.
    mutating func store(_ step: inout CoreStep) {
        for groupID in self.changed {
            guard let changes = self.groups[groupID]?.drainChanges() else { continue }
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
        self.changed = []
    }

    // MARK: Routing ids

    /// Routes a group's current and former ids to it; other groups' claims to them stay.
    @discardableResult
    mutating func route(_ group: MarmotGroup, enteredAt: UnixTime) -> (changed: Set<Bytes32>, released: Set<Bytes32>) {
        self.routes.set(
            [group.data.nostrGroupID] + group.formerNostrGroupIDs, of: group.groupID, enteredAt: enteredAt)
    }

    /// Returns the groups whose keys may open an event.
    func candidates(for event: Event) -> [GroupID] {
        guard let id = try? GroupEvents.nostrGroupID(of: event) else { return [] }
        return self.routes.candidates(for: id) { self.groups[$0]?.isActive == true }
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
        return candidates.first { self.groups[$0]?.opens(event) == true } ?? candidates.first
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
    func makeIterator() -> Dictionary<GroupID, MarmotGroup>.Iterator { self.groups.makeIterator() }
}
