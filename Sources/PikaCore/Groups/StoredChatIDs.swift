import MLS
import Nostr

/// Migrates chat ids in rows that an earlier version stored: they were the group's nostrGroupID.
///
/// Rewrites them to MLS group ids, which later claims to a nostrGroupID cannot redirect. MLS group ids stay unchanged.
struct StoredChatIDs: Sendable {
    /// The changes that make the migration durable.
    private(set) var changes: [StoreChange] = []
    /// Inbox rows deleted because several groups claim their nostrGroupID: each could be the sender's group, and roles
    /// of one must not count in another.
    private(set) var ambiguousInboxRows: [Int64] = []

    init() {}

    init(migrating stored: inout StoredState, _ routes: GroupRoutes) {
        self.migrateInbox(&stored, routes)
        for (name, memo) in stored.memos where name.kind == .answer || name.kind == .callTimeline {
            guard let migrated = Self.migrated(memo, routes) else { continue }
            stored.memos[name] = migrated
            self.changes.append(.putMemo(name, migrated))
        }
    }

    private mutating func migrateInbox(_ stored: inout StoredState, _ routes: GroupRoutes) {
        var rows: [InboxRow] = []
        for var row in stored.inbox {
            guard case .object(var json)? = try? JSONValue(json: row.payload), let chat = json["chat"]?.string else {
                rows.append(row)
                continue
            }
            do throws(AppCoreError) {
                let chatID = try routes.group(named: chat).hex
                if chatID != chat {
                    json["chat"] = .string(chatID)
                    row.payload = JSONValue.object(json).json()
                    self.changes.append(.putInbox(row))
                }
                rows.append(row)
            } catch {
                guard error.code == .ambiguousChat else {
                    rows.append(row)
                    continue
                }
                self.ambiguousInboxRows.append(row.id)
                self.changes.append(.deleteInbox(id: row.id))
            }
        }
        stored.inbox = rows
    }

    /// Returns the migrated memo; nil if nothing changes. An ambiguous id stays, since it is only displayed.
    private static func migrated(_ memo: Secret, _ routes: GroupRoutes) -> Secret? {
        guard case .object(var json)? = JSONValue(memo: memo) else { return nil }
        var isChanged = false
        func chatID(_ stored: JSONValue?) -> JSONValue? {
            guard let text = stored?.string else { return nil }
            let id = routes.chatID(stored: ChatID(rawValue: text)).rawValue
            return id == text ? nil : .string(id)
        }
        if let id = chatID(json["chat"]) {
            json["chat"] = id
            isChanged = true
        }
        if let entries = json["entries"]?.array {
            json["entries"] = .array(
                entries.map { entry in
                    guard case .object(var fields) = entry, let id = chatID(fields["chat"]) else { return entry }
                    fields["chat"] = id
                    isChanged = true
                    return .object(fields)
                })
        }
        return isChanged ? Secret(JSONValue.object(json).json()) : nil
    }
}
