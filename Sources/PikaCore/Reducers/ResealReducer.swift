import MLS
import Marmot
import Nostr

/// Own messages of epochs that were rolled back: nobody on the branch that stands can read them, so they are sealed
/// again. Whoever has them already knows them by their inner ids.
extension CoreModel {
    struct Reseal: Sendable {
        /// The first epoch that was given up.
        let fromEpoch: UInt64
        /// What was sent since, which is on the right branch.
        var sent: Set<EventID> = []
    }

    /// Reads what was sent in the epochs that were given up. It is noted durably until it was sealed again.
    mutating func startReseal(of groupID: [UInt8], fromEpoch: UInt64, _ step: inout CoreStep) {
        let earliest = min(fromEpoch, self.resealing[groupID]?.fromEpoch ?? fromEpoch)
        self.resealing[groupID] = Reseal(fromEpoch: earliest)
        let content = withUnsafeBytes(of: earliest.bigEndian) { Secret(Array($0)) }
        step.changes.append(.putMemo(MemoName(.reseal, groupID), content))
        step.effects.append(.loadSent(groupID: groupID, fromEpoch: earliest))
    }

    mutating func restoreReseals(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .reseal {
            guard content.count == 8 else { throw AppCoreError(.corruptState, "a stored epoch cannot be read") }
            self.resealing[name.key] = Reseal(fromEpoch: content.copyBytes().reduce(0) { $0 << 8 | UInt64($1) })
        }
    }

    /// Seals messages again in the epoch that stands.
    mutating func reseal(_ messages: [StoredMessage], of groupID: [UInt8], _ step: inout CoreStep) {
        guard let reseal = self.resealing.removeValue(forKey: groupID) else { return }
        step.changes.append(.putMemo(MemoName(.reseal, groupID), nil))
        guard self.groups[groupID]?.isActive == true else { return }
        for message in messages.sorted(by: { $0.position < $1.position })
        where message.isOwn && message.epoch >= reseal.fromEpoch && !reseal.sent.contains(message.id) {
            guard !Self.isMomentary(message.rumor.kind) else { continue }
            do { try self.reseal(message, &step) } catch {
                step.effects.append(.note(.sendFailed(reason: "message after a rollback: \(error)")))
            }
        }
    }

    /// What is of no use later.
    private static func isMomentary(_ kind: Kind) -> Bool { kind == .typing || kind == .callSignal }

    private mutating func reseal(_ message: StoredMessage, _ step: inout CoreStep) throws {
        guard let event = try self.groups[message.groupID]?.seal(message.rumor, now: step.now, using: &step.random),
            let group = self.groups[message.groupID]
        else { return }
        self.dirtyGroups.insert(message.groupID)
        for row in self.queue.rows(ofMessage: message.id) { self.dropRow(row, &step) }
        var moved = message
        moved.wrapper = event.id
        moved.epoch = group.epoch
        step.changes.append(.moveMessage(moved))
        self.enqueue(
            id: "message/\(event.id.hex)", event, to: self.relays(of: group), .message, groupID: message.groupID,
            messageID: message.id, &step)
    }
}
