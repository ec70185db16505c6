import MLS
import Nostr

extension StoreChange {
    /// The subject to quarantine if writing the change crashes the process: its group, or this change alone.
    package var crashSubject: CrashSubject {
        switch self {
        case .putGroupHeader(let key, _), .updateGroup(let key, _):
            .group(StoredGroupKey.groupID(ofStored: key))
        case .deleteGroup(let key): .change("delete-group", key)
        case .putKeyPackage(let package): .change("key-package", package.reference)
        case .deleteKeyPackage(let reference): .change("delete-key-package", reference)
        case .putMessage(let message): .change("message", message.groupID.bytes + message.id.bytes)
        case .moveMessage(let message): .change("move-message", message.groupID.bytes + message.id.bytes)
        case .withdrawMessages(let groupID, let points):
            .change("withdraw-messages", groupID.bytes + points.flatMap(\.bytes))
        case .restoreMessages(let groupID, let points):
            .change("restore-messages", groupID.bytes + points.flatMap(\.bytes))
        case .reviveMessage(let message): .change("revive-message", message.groupID.bytes + message.id.bytes)
        case .deleteExpired(let time): .change("delete-expired", Array("\(time)".utf8))
        case .putMedia(let media):
            .change("media", media.groupID.bytes + media.messageID.bytes + Array("/\(media.index)".utf8))
        case .putSeen(let id, _): .change("seen", id.bytes)
        case .putRefused(let id, _): .change("refused", id.bytes)
        case .putWaiting(let waiting): .change("waiting", waiting.event.id.bytes)
        case .deleteWaiting(let id): .change("delete-waiting", id.bytes)
        case .putInvite(let invite): .change("invite", invite.wrapper.bytes)
        case .deleteInvite(let wrapper): .change("delete-invite", wrapper.bytes)
        case .putInbox(let row): .change("inbox", row.payload)
        case .deleteInbox(let id): .change("delete-inbox", Array("\(id)".utf8))
        case .putOutbox(let row): .change("outbox", row.event.id.bytes)
        case .countOutboxAttempt(let id): .change("count-attempt", Array(id.utf8))
        case .settleOutbox(let id, _): .change("settle-outbox", Array(id.utf8))
        case .deleteOutbox(let id): .change("delete-outbox", Array(id.utf8))
        case .advanceCursor(let name, let value): .change("cursor", Array("\(name)/\(value)".utf8))
        case .putValue(let scope, let key, let value):
            .change("value", Array("\(scope)\n\(key)\n".utf8) + (value ?? []))
        case .putMemo(let name, let content):
            .change("memo", Array("\(name.kind.rawValue)/".utf8) + name.key + (content?.copyBytes() ?? []))
        case .deleteSurplus(let rule, _): .change("delete-surplus", Array("\(rule)".utf8))
        case .markRestoreHandled: .change("settle-restore", [])
        case .putInstance: .change("put-instance", [])
        case .dropRow(let table, let key): .change("drop-row", Array("\(table)/\(key)".utf8))
        }
    }
}
