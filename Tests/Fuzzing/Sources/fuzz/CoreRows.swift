import MLS
import Nostr
import PikaCore

/// The rows of a store in memory, as a core reads them at its start.
struct CoreRows {
    var state = StoredState()

    mutating func apply(_ change: StoreChange) {
        switch change {
        case .putKeyPackage(let package): self.state.keyPackages.append(package)
        case .deleteKeyPackage(let reference): self.state.keyPackages.removeAll { $0.reference == reference }
        case .putGroupHeader(let id, let header): self.withGroup(id) { $0.header = header }
        case .updateGroup(let id, let changes): self.withGroup(id) { changes.apply(to: &$0.records) }
        case .deleteGroup(let id): self.state.groups.removeAll { $0.key == id }
        case .putSeen(let id, _): self.state.seen.insert(id, at: 0)
        case .putRefused(let id, _): self.state.refused.insert(id, at: 0)
        case .putWaiting(let event): self.state.waiting.append(event)
        case .deleteWaiting(let id): self.state.waiting.removeAll { $0.event.id == id }
        case .putInvite(let invite): self.state.invites.append(invite)
        case .deleteInvite(let wrapper): self.state.invites.removeAll { $0.wrapper == wrapper }
        case .putInbox(let row): self.state.inbox.append(row)
        case .deleteInbox(let id): self.state.inbox.removeAll { $0.id == id }
        case .putOutbox(let row):
            if !self.state.outbox.contains(where: { $0.id == row.id }) { self.state.outbox.append(row) }
        case .countOutboxAttempt(let id): self.withOutbox(id) { $0.attempts += 1 }
        case .settleOutbox(let id, let leftover): self.withOutbox(id) { $0.leftover = leftover }
        case .deleteOutbox(let id): self.state.outbox.removeAll { $0.id == id }
        case .advanceCursor(let name, let value):
            self.state.cursors[name] = max(value, self.state.cursors[name] ?? .min)
        case .putMemo(let name, let content): self.state.memos[name] = content
        case .markRestoreHandled: self.state.instance.isRestored = false
        case .putInstance(let instance): self.state.instance = instance
        // The core reads none of these at its start.
        case .putMessage, .moveMessage, .withdrawMessages, .restoreMessages, .reviveMessage, .deleteExpired, .putMedia,
            .putValue, .deleteSurplus, .dropRow:
            break
        }
    }

    private mutating func withGroup(_ id: [UInt8], _ body: (inout StoredGroup) -> Void) {
        var group =
            self.state.groups.first { $0.key == id } ?? StoredGroup(key: id, header: Secret([]), records: [:])
        body(&group)
        self.state.groups.removeAll { $0.key == id }
        self.state.groups.append(group)
    }

    private mutating func withOutbox(_ id: String, _ body: (inout OutboxRow) -> Void) {
        if let row = self.state.outbox.firstIndex(where: { $0.id == id }) { body(&self.state.outbox[row]) }
    }

    /// Writes bytes into a row: the first byte selects the table, the second the row; the rest is the content.
    mutating func damage(_ data: [UInt8]) {
        guard data.count > 2 else { return }
        let (table, row, content) = (data[0], Int(data[1]), Array(data.dropFirst(2)))
        func pick<Rows: Collection>(_ rows: Rows) -> Rows.Index? {
            rows.isEmpty ? nil : rows.index(rows.startIndex, offsetBy: row % rows.count)
        }
        switch table % 9 {
        case 0: if let at = pick(self.state.groups) { self.state.groups[at].header = Secret(content) }
        case 1:
            guard let at = pick(self.state.groups), let name = self.recordName(at, content) else { return }
            self.state.groups[at].records[name] = Self.changed(self.state.groups[at].records[name], content)
        case 2: if let at = pick(self.state.groups) { self.state.groups[at].key = content }
        case 3: if let at = pick(self.state.keyPackages) { self.state.keyPackages[at].bundle = Secret(content) }
        case 4: self.state.inbox.append(InboxRow(id: Self.number(content), payload: content))
        case 5:
            let kinds = MemoName.Kind.allCases
            let key = self.state.groups.first.map { Array($0.key.dropFirst()) } ?? []
            self.state.memos[MemoName(kinds[row % kinds.count], key)] = Secret(content)
        case 6:
            let names = self.state.cursors.keys.sorted()
            if let at = pick(names) { self.state.cursors[names[at]] = Self.number(content) }
        case 7: self.state.instance.generation = Self.number(content)
        default:
            guard let at = pick(self.state.outbox) else { return }
            self.state.outbox[at].attempts = Int(truncatingIfNeeded: Self.number(content))
            self.state.outbox[at].sequence = Self.number(content.reversed())
        }
    }

    private func recordName(_ group: Int, _ content: [UInt8]) -> GroupRecord? {
        let names = self.state.groups[group].records.keys.sorted { $0.description < $1.description }
        return names.isEmpty ? nil : names[Int(content[0]) % names.count]
    }

    /// Changes one byte of the stored value.
    private static func changed(_ secret: Secret?, _ content: [UInt8]) -> Secret {
        var bytes = secret?.copyBytes() ?? []
        guard content.count >= 4, !bytes.isEmpty else { return Secret(content) }
        bytes[(Int(content[1]) << 8 | Int(content[2])) % bytes.count] ^= content[3]
        return Secret(bytes)
    }

    private static func number(_ bytes: [UInt8]) -> Int64 {
        Int64(bitPattern: bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
