/// Transitions from one epoch's value to the next and back.
extension MLSGroup {
    /// Returns the group after this member's own commit, created earlier in this epoch (``PendingCommit/next``).
    /// Message keys that this value has consumed since then stay consumed.
    ///
    /// - Precondition: `next` is of this group and of the epoch after this one.
    public func merging(_ next: MLSGroup) -> MLSGroup {
        precondition(
            next.groupID == self.groupID && self.epoch.isFollowed(by: next.epoch),
            "only the value of the next epoch follows on a group value")
        var merged = next
        var kept: Set<Epoch> = []
        for index in merged.past.indices {
            guard let messages = self.messages(of: merged.past[index].epoch) else { continue }
            merged.past[index].secretTree = messages.secretTree
            kept.insert(messages.epoch)
        }
        merged.note(self.changedRecords)
        for dropped in self.past where !kept.contains(dropped.epoch) { merged.note(dropped.records) }
        return merged
    }

    /// Returns the changes from this value's stored form to that of `next`, the value after a commit created in this
    /// epoch.
    ///
    /// Ratchets that both values hold are excluded, unless the changes replace everything: the value in use owns them.
    public func changes(to next: MLSGroup) -> GroupStorageChanges {
        var copy = next
        var changes = copy.drainChanges()
        guard !changes.replacesAll else { return changes }
        let held = Set(next.past.map(\.epoch))
        changes.records = changes.records.filter { !$0.key.isRatchetState(in: held) }
        return changes
    }

    /// Restores the value that ``changes(to:)`` leads to; ``merging(_:)`` then makes it the group's value.
    public func successor(by changes: GroupStorageChanges) throws(MLSError) -> MLSGroup {
        var records = self.records
        changes.apply(to: &records)
        var next = try MLSGroup(records: records)
        guard !changes.replacesAll, let nodes = self.tree.changedNodes else {
            next.markAllChanged()
            return next
        }
        next.note(self.changedRecords)
        for name in nodes.map(GroupRecord.node) + changes.records.keys {
            if case .node(let index) = name { next.tree.noteChanged(index) } else { next.note([name]) }
        }
        return next
    }

    /// Returns the changes from the stored form of `next`, the successor of this value, back to this value's.
    ///
    /// Ratchets that `next` still holds are excluded, so that keys consumed there stay consumed.
    public func undo(of next: MLSGroup) -> GroupStorageChanges {
        var names = next.changedRecords
        if let nodes = next.tree.changedNodes {
            for index in nodes { names.insert(.node(index)) }
        } else {
            names.formUnion(next.allRecords)
            names.formUnion(self.allRecords)
            for index in 0..<max(self.tree.nodes.count, next.tree.nodes.count) { names.insert(.node(index)) }
        }
        let held = Set(next.past.map(\.epoch))
        var records: [GroupRecord: Secret?] = [:]
        for name in names.union([.core]) where !name.isRatchetState(in: held) {
            records[name] = .some(self.content(of: name))
        }
        return GroupStorageChanges(replacesAll: false, records: records)
    }

    /// Returns the value that a chain of ``undo(of:)`` leads back to, latest first. All of it counts as changed.
    public func reverting(_ undos: [GroupStorageChanges]) throws(MLSError) -> MLSGroup {
        var records = self.records
        for undo in undos { undo.apply(to: &records) }
        var value = try MLSGroup(records: records)
        value.markAllChanged()
        return value
    }

    /// All records of this value.
    public var records: [GroupRecord: Secret] {
        var names = self.allRecords
        for index in self.tree.nodes.indices { names.insert(.node(index)) }
        var records: [GroupRecord: Secret] = [:]
        for name in names { records[name] = self.content(of: name) }
        return records
    }

    /// Returns one record of this value; nil if it does not exist.
    public func record(_ name: GroupRecord) -> Secret? { self.content(of: name) }
}

extension GroupRecord {
    fileprivate func isRatchetState(in epochs: Set<Epoch>) -> Bool {
        switch self {
        case .ratchets(let epoch, _), .treeSecret(let epoch, _): epochs.contains(epoch)
        case .core, .node, .epoch: false
        }
    }
}
