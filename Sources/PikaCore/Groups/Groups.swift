import MLS
import Marmot

/// The MLS groups of this account, and the changes to them that are not stored yet.
struct Groups: Sendable {
    private var groups: [GroupID: MarmotGroup] = [:]
    /// Groups with changes that are not in the step's changes yet.
    private var changed: Set<GroupID> = []

    var count: Int { self.groups.count }
    var isEmpty: Bool { self.groups.isEmpty }
    var all: [GroupID: MarmotGroup] { self.groups }
    var hasUnstoredChanges: Bool { !self.changed.isEmpty }
    var keys: Dictionary<GroupID, MarmotGroup>.Keys { self.groups.keys }
    var values: Dictionary<GroupID, MarmotGroup>.Values { self.groups.values }

    /// A group is changed in place. The caller marks changes that are to be stored with ``markChanged(_:)``: refused
    /// events, which anyone can send, cause none.
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
            if let header = changes.header { step.changes.append(.putGroupHeader(groupID: key, header: header)) }
            step.changes.append(.updateGroup(groupID: key, changes.mls))
            for (part, content) in changes.parts {
                let key = StoredGroupKey(groupID, part).bytes
                guard let content else {
                    step.changes.append(.deleteGroup(groupID: key))
                    continue
                }
                step.changes.append(.putGroupHeader(groupID: key, header: content.header))
                step.changes.append(
                    .updateGroup(
                        groupID: key,
                        GroupStorageChanges(replacesAll: true, records: content.records.mapValues { .some($0) })))
            }
        }
        self.changed = []
    }
}

extension Groups: Sequence {
    func makeIterator() -> Dictionary<GroupID, MarmotGroup>.Iterator { self.groups.makeIterator() }
}
