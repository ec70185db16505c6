import Nostr
import PikaCore

/// One output line of a scripted member.
enum MemberEvent {
    static func ready(_ account: PublicKey) -> JSONValue {
        ["event": "ready", "pubkey": .string(account.hex), "npub": .string(account.npub)]
    }

    static func done(_ command: String, _ result: JSONObject) -> JSONValue {
        ["event": "ok", "cmd": .string(command), "result": .object(result)]
    }

    static func failed(_ command: String, _ message: String) -> JSONValue {
        ["event": "error", "cmd": .string(command), "message": .string(message)]
    }

    /// Returns the line for an event in a group; nil for events without one.
    static func event(_ event: CoreEvent, inGroup nostrGroupID: String) -> JSONValue? {
        let group = JSONValue.string(nostrGroupID)
        switch event.content {
        case .message(let message):
            return [
                "event": "message", "group": group, "id": .string(message.id.hex),
                "from": .string(message.sender.hex), "kind": .integer(Int64(message.kind.rawValue)),
                "content": .string(message.content),
                "media": .array(message.media.map { .string($0.filename) }),
            ]
        case .commit(let commit):
            return [
                "event": "commit", "group": group, "id": .string(commit.id.hex), "from": .string(commit.committer.hex),
                "own": .bool(commit.isOwn), "epoch_before": .integer(Int64(clamping: commit.epochBefore)),
                "epoch_after": .integer(Int64(clamping: commit.epochAfter)), "rolled_back": .bool(commit.rolledBack),
            ]
        case .proposal(let proposal):
            return [
                "event": "proposal", "group": group, "id": .string(proposal.id.hex),
                "from": .string(proposal.sender.hex), "departure": .bool(proposal.isDeparture),
            ]
        case .call(let call):
            return [
                "event": "call", "group": group, "from": .string(call.sender.hex), "type": .string(call.signal.type),
                "call_id": .string(call.signal.callID),
            ]
        case .withdrawn(let withdrawn):
            return [
                "event": "withdrawn", "group": group, "id": .string(withdrawn.id.hex),
                "from": .string(withdrawn.sender.hex), "kind": .integer(Int64(withdrawn.kind.rawValue)),
                "restored": .bool(withdrawn.isRestored),
            ]
        case .joined, .outcome, .feed: return nil
        }
    }

    /// Returns the state of the current call, or its end.
    static func call(_ call: AppState.ActiveCall, inGroup nostrGroupID: String) -> JSONValue {
        let (phase, reason): (String, JSONValue) =
            switch call.phase {
            case .offering: ("offering", .null)
            case .ringing: ("ringing", .null)
            case .connecting: ("connecting", .null)
            case .active: ("active", .null)
            case .ended(let reason): ("ended", .string(reason))
            }
        return [
            "event": "call_state", "group": .string(nostrGroupID), "call_id": .string(call.callID),
            "peer": .string(call.peer.hex), "phase": .string(phase), "reason": reason,
        ]
    }

    /// Returns a group's current state.
    static func group(_ chat: AppState.ChatSummary) -> JSONValue {
        [
            "event": "group", "group": .string(chat.nostrGroupID), "name": .string(chat.name),
            "description": .string(chat.description), "relays": .array(chat.relays.map { .string($0.string) }),
            "epoch": .integer(Int64(clamping: chat.epoch)), "active": .bool(chat.isActive),
            "members": .array(chat.allMembers.map { .string($0.publicKey.hex) }),
            "admins": .array(chat.allMembers.filter(\.isAdmin).map { .string($0.publicKey.hex) }),
            "names": names(chat.allMembers.map { ($0.publicKey, $0.name) }),
        ]
    }

    /// Returns this account's profile and follow list.
    static func people(_ state: AppState) -> JSONValue {
        let profile = state.myProfile
        let text = { (text: String?) in text.map { JSONValue.string($0) } ?? .null }
        return [
            "event": "people", "name": text(profile?.name), "about": text(profile?.about),
            "picture": text(profile?.picture),
            "follows": .array(state.followList.map { .string($0.profile.publicKey.hex) }),
            "names": names(state.followList.map { ($0.profile.publicKey, $0.profile.displayName ?? $0.profile.name) }),
        ]
    }

    private static func names(_ people: [(key: PublicKey, name: String?)]) -> JSONValue {
        var names = JSONObject()
        for (key, name) in people { if let name { names[key.hex] = .string(name) } }
        return .object(names)
    }
}
