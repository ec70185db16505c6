import MLS
import Nostr

/// Effects that read the store.
extension EffectRunner {
    /// The newest messages of a group before a position.
    struct MessageRange: Sendable {
        let groupID: GroupID
        let before: StoredMessage.Position?
        let limit: Int
    }

    private static let pageSize = 50
    /// The maximum number of pages read at once, because a member can fill a chat with messages that are not shown.
    private static let maximumPages = 20

    func loadSent(_ groupID: GroupID, from epoch: Epoch, in group: inout TaskGroup) {
        self.call(in: &group) {
            let messages = try await self.sentMessages(in: groupID, fromEpoch: epoch)
            self.mailbox.send(.sentLoaded(groupID: groupID, messages))
        }
    }

    func loadUnsent(_ groupID: GroupID, upTo epoch: Epoch, in group: inout TaskGroup) {
        self.call(in: &group) {
            let messages = try await self.sentMessages(in: groupID, fromEpoch: epoch.earlier(by: 16))
            self.mailbox.send(.unsentLoaded(groupID: groupID, upToEpoch: epoch, messages))
        }
    }

    func loadWithdrawn(_ groupID: GroupID, _ points: [Bytes32], in group: inout TaskGroup) {
        self.call(in: &group) {
            let messages = try await self.ports.store.messages(in: groupID, atPoints: points)
            self.mailbox.send(.withdrawnLoaded(groupID: groupID, points: points, messages))
        }
    }

    func loadNextExpiry(in group: inout TaskGroup) {
        self.call(in: &group) { self.mailbox.send(.nextExpiry(try await self.ports.store.nextExpiry())) }
    }

    func countSurplus(_ rule: MessageSurplus, limit: Int, in group: inout TaskGroup) {
        self.call(in: &group) {
            self.mailbox.send(.surplus(rule, try await self.ports.store.surplus(rule, limit: limit)))
        }
    }

    func loadMessage(_ id: EventID, in groupID: GroupID, _ request: RequestID?, _ group: inout TaskGroup) {
        self.call(in: &group) {
            let message = try await self.ports.store.message(in: groupID, id: id)
            self.mailbox.send(.messageLoaded(groupID: groupID, id, message, request))
        }
    }

    /// - Parameter opening: number of the opening of the chat that asks.
    func loadMessages(
        _ range: MessageRange, opening: Int, _ request: RequestID?, in group: inout TaskGroup
    ) {
        self.call(in: &group) {
            let (messages, reachedStart) = try await self.page(of: range)
            self.mailbox.send(.messagesLoaded(messages, opening: opening, reachedStart: reachedStart, request))
        }
    }

    /// Reads pages of messages until `limit` of them can be shown, or no more are stored; newest first.
    private func page(of range: MessageRange) async throws -> (messages: [StoredMessage], reachedStart: Bool) {
        var found: [StoredMessage] = []
        var shown = 0
        for _ in 0..<Self.maximumPages {
            // One more than needed, to tell whether older messages exist.
            let size = max(range.limit - shown, Self.pageSize) + 1
            let page = try await self.ports.store.messages(
                in: range.groupID, before: found.last?.position ?? range.before, limit: size)
            for message in page.prefix(size - 1) where shown < range.limit {
                found.append(message)
                if CoreModel.isShown(message.rumor.kind) { shown += 1 }
                if shown == range.limit { return (found, message == page.last) }
            }
            if page.count < size { return (found, true) }
        }
        return (found, false)
    }

    /// Returns this account's messages from an epoch on. Epochs rise with time except where clocks differ, so the
    /// search stops at the first page without any message of these epochs.
    private func sentMessages(in groupID: GroupID, fromEpoch epoch: Epoch) async throws -> [StoredMessage] {
        var found: [StoredMessage] = []
        var before: StoredMessage.Position?
        while true {
            let page = try await self.ports.store.messages(in: groupID, before: before, limit: Self.pageSize)
            found += page.filter { $0.isOwn && $0.epoch >= epoch }
            guard page.count == Self.pageSize, page.contains(where: { $0.epoch >= epoch }) else { return found }
            before = page.last?.position
        }
    }
}
