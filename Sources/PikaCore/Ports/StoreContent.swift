package import MLS
package import Nostr

/// The content of a ``CoreStore`` in memory, for load tests and labs; a snapshot is a copy.
package struct StoreContent: Sendable {
    /// The maximum numbers of seen and refused ids kept, as documented in ``StoredState``.
    static let seenLimit = 50_000
    static let refusedLimit = 20_000

    private struct Group {
        var header: Secret?
        var records: [GroupRecord: Secret] = [:]
    }

    private struct ValueName: Hashable {
        let scope: String
        let key: String
    }

    private var keyPackages: [StoredKeyPackage] = []
    /// The stored keys of groups, in the order of their creation in this store.
    private var groupIDs: [[UInt8]] = []
    private var groups: [[UInt8]: Group] = [:]
    private var messages: [GroupID: MessageHistory] = [:]
    private var media: [StoredMedia] = []
    private var waiting: [WaitingEvent] = []
    private var invites: [StoredInvite] = []
    private var inbox: [Int64: InboxRow] = [:]
    private var outbox: [OutboxRow] = []
    private var cursors: [String: Int64] = [:]
    /// The ids of processed events, oldest first.
    private var seen = BoundedIDs(limit: Self.seenLimit)
    private var refused = BoundedIDs(limit: Self.refusedLimit)
    private var values: [ValueName: [UInt8]] = [:]
    private var memos: [MemoName: Secret] = [:]
    package var instance = StoredInstance()

    package init() {}

    package var state: StoredState {
        var state = StoredState()
        state.keyPackages = self.keyPackages
        state.groups = self.groupIDs.compactMap { id in
            guard let group = self.groups[id], let header = group.header else { return nil }
            return StoredGroup(key: id, header: header, records: group.records)
        }
        state.waiting = self.waiting.stablySorted { $0.arrivedAt }
        state.invites = self.invites
        state.inbox = self.inbox.values.sorted { $0.id < $1.id }
        state.outbox = self.outbox.stablySorted { $0.sequence }
        state.cursors = self.cursors
        state.instance = self.instance
        state.seen = self.seen.newestFirst
        state.refused = self.refused.newestFirst
        state.memos = self.memos
        return state
    }

    package var allMessages: [StoredMessage] {
        self.messages.values.flatMap(\.messages).sorted { $0.position < $1.position }
    }

    package func messages(in groupID: GroupID, before: StoredMessage.Position?, limit: Int) -> [StoredMessage] {
        self.messages[groupID]?.page(before: before, limit: limit) ?? []
    }

    package func messages(in groupID: GroupID, atPoints points: [Bytes32]) -> [StoredMessage] {
        (self.messages[groupID]?.messages ?? []).filter { $0.point.map(points.contains) ?? false }
    }

    package func message(in groupID: GroupID, id: EventID) -> StoredMessage? {
        self.messages[groupID]?.messages.first { $0.id == id }
    }

    package var nextExpiry: UnixTime? { self.messages.values.flatMap(\.messages).compactMap(\.expiresAt).min() }

    package func media(in groupID: GroupID, message: EventID) -> [StoredMedia] {
        self.media.filter { $0.groupID == groupID && $0.messageID == message }.sorted { $0.index < $1.index }
    }

    package func value(scope: String, key: String) -> [UInt8]? { self.values[ValueName(scope: scope, key: key)] }

    /// Returns the messages that a rule matches, by group, at most `limit`.
    package func surplus(
        _ rule: MessageSurplus, limit: Int
    ) -> [(group: GroupID, position: StoredMessage.Position)] {
        let all = self.messages.flatMap { group, history in
            history.surplus(rule).map { (group: group, position: $0) }
        }
        return Array(all.prefix(max(0, limit)))
    }

    package mutating func apply(_ change: StoreChange) {
        switch change {
        case .putKeyPackage(let package): self.keyPackages.put(package) { $0.reference == package.reference }
        case .deleteKeyPackage(let reference): self.keyPackages.removeAll { $0.reference == reference }
        case .putGroupHeader(let id, let header): self.withGroup(id) { $0.header = header }
        case .updateGroup(let id, let changes): self.withGroup(id) { $0.records.apply(changes) }
        case .deleteGroup(let id): self.deleteGroup(id)
        case .putMessage(let message): self.messages[message.groupID, default: MessageHistory()].insert(message)
        case .moveMessage(let message): self.messages[message.groupID]?.replace(message)
        case .withdrawMessages(let groupID, let points):
            self.messages[groupID]?.setWithdrawn(true, at: Set(points))
        case .restoreMessages(let groupID, let points):
            self.messages[groupID]?.setWithdrawn(false, at: Set(points))
        case .reviveMessage(let message): self.messages[message.groupID]?.revive(message)
        case .deleteExpired(let time):
            for id in self.messages.keys { self.messages[id]?.deleteExpired(at: time) }
            self.media.removeAll { self.messages[$0.groupID]?.contains($0.messageID) != true }
        case .putMedia(let media):
            if !self.media(in: media.groupID, message: media.messageID).contains(where: { $0.index == media.index }) {
                self.media.append(media)
            }
        case .putSeen(let id, _): self.seen.insert(id)
        case .putRefused(let id, _): self.refused.insert(id)
        case .putWaiting(let event): self.waiting.put(event) { $0.event.id == event.event.id }
        case .deleteWaiting(let id): self.waiting.removeAll { $0.event.id == id }
        case .putInvite(let invite): self.invites.put(invite) { $0.wrapper == invite.wrapper }
        case .deleteInvite(let wrapper): self.invites.removeAll { $0.wrapper == wrapper }
        case .putInbox(let row): self.inbox[row.id] = row
        case .deleteInbox(let id): self.inbox[id] = nil
        case .putOutbox(let row): if !self.outbox.contains(where: { $0.id == row.id }) { self.outbox.append(row) }
        case .countOutboxAttempt(let id): self.withOutbox(id) { $0.attempts += 1 }
        case .settleOutbox(let id, let leftover): self.withOutbox(id) { $0.leftover = leftover }
        case .deleteOutbox(let id): self.outbox.removeAll { $0.id == id }
        case .advanceCursor(let name, let time): self.cursors[name] = max(time, self.cursors[name] ?? time)
        case .putValue(let scope, let key, let value): self.values[ValueName(scope: scope, key: key)] = value
        case .putMemo(let name, let content): self.memos[name] = content
        case .deleteSurplus(let rule, let limit):
            for (group, position) in self.surplus(rule, limit: limit) { self.messages[group]?.remove(at: position) }
            self.media.removeAll { self.messages[$0.groupID]?.contains($0.messageID) != true }
        case .markRestoreHandled: self.instance.isRestored = false
        case .dropRow("inbox", let key): if let id = Int64(key) { self.inbox[id] = nil }
        case .dropRow: break
        case .putInstance(let instance): self.instance = instance
        }
    }

    private mutating func withGroup(_ id: [UInt8], _ body: (inout Group) -> Void) {
        if self.groups[id] == nil { self.groupIDs.append(id) }
        body(&self.groups[id, default: Group()])
    }

    private mutating func deleteGroup(_ id: [UInt8]) {
        self.groups[id] = nil
        self.groupIDs.removeAll { $0 == id }
        self.messages[GroupID(id)] = nil
        self.media.removeAll { $0.groupID == GroupID(id) }
    }

    private mutating func withOutbox(_ id: String, _ body: (inout OutboxRow) -> Void) {
        guard let index = self.outbox.firstIndex(where: { $0.id == id }) else { return }
        body(&self.outbox[index])
    }
}

/// The messages of one group, oldest first.
private struct MessageHistory: Sendable {
    private(set) var messages: [StoredMessage] = []
    private var ids: Set<EventID> = []
    private var withdrawn: Set<EventID> = []

    mutating func insert(_ message: StoredMessage) {
        guard self.ids.insert(message.id).inserted else { return }
        self.withdrawn.remove(message.id)
        self.messages.insert(message, at: self.index(of: message.position))
    }

    mutating func replace(_ message: StoredMessage) {
        guard let index = self.messages.firstIndex(where: { $0.id == message.id }) else { return }
        self.messages[index] = message
        self.withdrawn.remove(message.id)
    }

    mutating func setWithdrawn(_ isWithdrawn: Bool, at points: Set<Bytes32>) {
        let found = self.messages.filter { $0.point.map(points.contains) ?? false }.map(\.id)
        if isWithdrawn { self.withdrawn.formUnion(found) } else { self.withdrawn.subtract(found) }
    }

    mutating func revive(_ message: StoredMessage) {
        guard self.withdrawn.contains(message.id) else { return }
        self.messages.removeAll { $0.id == message.id }
        self.ids.remove(message.id)
        self.insert(message)
    }

    func contains(_ id: EventID) -> Bool { self.ids.contains(id) }

    mutating func deleteExpired(at time: UnixTime) {
        let expired = self.messages.filter { ($0.expiresAt ?? .distantFuture) <= time }
        guard !expired.isEmpty else { return }
        self.ids.subtract(expired.map(\.id))
        self.messages.removeAll { ($0.expiresAt ?? .distantFuture) <= time }
    }

    /// Returns the matching messages, oldest first.
    func surplus(_ rule: MessageSurplus) -> [StoredMessage.Position] {
        let beyond = rule.beyondNewest.map { max(0, self.messages.count - $0) } ?? 0
        return self.messages.enumerated().filter { index, message in
            index < beyond || message.time < rule.before ?? .distantPast
        }.map(\.element.position)
    }

    mutating func remove(at position: StoredMessage.Position) {
        guard let index = self.messages.firstIndex(where: { $0.position == position }) else { return }
        self.ids.remove(self.messages.remove(at: index).id)
    }

    /// Returns a page of messages, newest first.
    func page(before: StoredMessage.Position?, limit: Int) -> [StoredMessage] {
        let end = before.map(self.index(of:)) ?? self.messages.count
        let shown = self.withdrawn.isEmpty ? self.messages[..<end] : self.messages[..<end].filter(self.isShown)[...]
        return shown.suffix(max(0, limit)).reversed()
    }

    private func isShown(_ message: StoredMessage) -> Bool { !self.withdrawn.contains(message.id) }

    /// Returns the index of the first message that is not before `position`.
    private func index(of position: StoredMessage.Position) -> Int {
        var low = 0
        var high = self.messages.count
        while low < high {
            let middle = (low + high) / 2
            if self.messages[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension [GroupRecord: Secret] {
    fileprivate mutating func apply(_ changes: GroupStorageChanges) {
        if changes.replacesAll { self.removeAll() }
        for (record, content) in changes.records { self[record] = content }
    }
}

extension Array {
    /// Replaces the matching element, or appends.
    fileprivate mutating func put(_ element: Element, where isSame: (Element) -> Bool) {
        if let index = self.firstIndex(where: isSame) { self[index] = element } else { self.append(element) }
    }

    /// Returns the elements sorted by time; equal ones keep their order.
    fileprivate func stablySorted(by key: (Element) -> some Comparable) -> [Element] {
        self.enumerated().sorted { (key($0.element), $0.offset) < (key($1.element), $1.offset) }.map(\.element)
    }
}

/// The newest `limit` ids.
private struct BoundedIDs: Sendable {
    let limit: Int
    /// The ids, oldest first.
    private var ids: [EventID] = []
    private var known: Set<EventID> = []

    init(limit: Int) { self.limit = limit }

    var newestFirst: [EventID] { self.ids.suffix(self.limit).reversed() }

    mutating func insert(_ id: EventID) {
        guard self.known.insert(id).inserted else { return }
        self.ids.append(id)
        // Remove in batches, because removing from the front moves all other elements.
        guard self.ids.count >= self.limit + 1000 else { return }
        for old in self.ids.prefix(1000) { self.known.remove(old) }
        self.ids.removeFirst(1000)
    }
}
