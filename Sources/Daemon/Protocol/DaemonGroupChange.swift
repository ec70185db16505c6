package import Nostr
import PikaCore

/// A change of a group's name, description, admins or relays by a commit, of this account's too.
package struct DaemonGroupChange: Hashable, Sendable {
    package var nostrGroupID: String
    package var author: PublicKey
    /// The changed field, and its new value.
    package var field: String
    package var value: JSONValue
    /// For changes of the admins: those that are no longer admins.
    package var removed: [PublicKey] = []

    /// Returns the changes by a commit, in the order of its fields.
    static func all(in commit: CommitEvent, of nostrGroupID: String) -> [DaemonGroupChange] {
        func change(_ field: String, _ value: JSONValue, removed: [PublicKey] = []) -> DaemonGroupChange {
            DaemonGroupChange(
                nostrGroupID: nostrGroupID, author: commit.committer, field: field, value: value, removed: removed)
        }
        var changes: [DaemonGroupChange] = []
        if commit.isRename { changes.append(change("name", .string(commit.newName))) }
        if commit.descriptionChanged { changes.append(change("description", .string(commit.newDescription))) }
        if !commit.adminsAdded.isEmpty || !commit.adminsRemoved.isEmpty {
            let added = JSONValue.array(commit.adminsAdded.map { .string($0.hex) })
            changes.append(change("admins", added, removed: commit.adminsRemoved))
        }
        if commit.relaysChanged {
            changes.append(change("relays", .array(commit.newRelays.map { .string($0.string) })))
        }
        return changes
    }

    var json: JSONObject {
        var object: JSONObject = [
            "type": "group_changed", "nostr_group_id": .string(self.nostrGroupID),
            "from_pubkey": .string(self.author.hex), "field": .string(self.field),
        ]
        if self.field == "admins" {
            object["added"] = self.value
            object["removed"] = .array(self.removed.map { .string($0.hex) })
        } else {
            object["value"] = self.value
        }
        return object
    }
}
