package import Nostr
package import PikaCore

/// A group in replies and events.
package struct DaemonGroup: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package var publicKey: PublicKey
        package var isAdmin: Bool
        package var name: String?
        package var picture: String?
    }

    /// The id of the chat.
    package var chatID: ChatID
    /// ``AppState/ChatSummary/nostrGroupID``.
    package var nostrGroupID: String
    package var name: String
    package var description: String
    /// All members with this account, sorted by key.
    package var members: [Member]
    package var generation: GroupGenerationFields
    /// The relays of the group's events.
    package var relays: [RelayURL] = []
}

extension DaemonGroup {
    init(_ chat: AppState.ChatSummary) {
        self.chatID = chat.chatID
        self.nostrGroupID = chat.nostrGroupID
        self.name = chat.name
        self.description = chat.description
        self.members = chat.allMembers.map(Member.init).sorted { $0.publicKey.hex < $1.publicKey.hex }
        self.generation = GroupGenerationFields(chat)
        self.relays = chat.relays
    }

    var json: JSONObject {
        self.generation.json(after: [
            "nostr_group_id": .string(self.nostrGroupID), "mls_group_id": .string(self.chatID.rawValue),
            "name": .string(self.name), "description": .string(self.description),
            "member_count": .integer(Int64(self.members.count)),
        ])
    }

    /// The group's generation in replies and events.
    var protocolName: JSONValue { .string(self.generation.generation.rawValue) }

    /// Returns the group's profile: the newest of `profiles` that an admin has set. The group's name and description
    /// replace missing fields.
    ///
    /// - Parameter account: the owner if no admin has set a profile.
    func profile(among profiles: [AppState.Profile], account: PublicKey) -> DaemonGroupProfile {
        let admins = self.members.filter(\.isAdmin).map(\.publicKey)
        let profile = profiles.first { admins.contains($0.publicKey) }
        return DaemonGroupProfile(
            nostrGroupID: self.nostrGroupID, owner: profile?.publicKey ?? account,
            name: profile?.displayName?.nonBlank ?? profile?.name?.nonBlank ?? self.name,
            about: profile?.about?.nonBlank ?? self.description, picture: profile?.picture?.nonBlank)
    }

    var memberList: JSONValue { .array(self.members.map(\.json)) }
}

extension DaemonGroup.Member {
    fileprivate init(_ member: AppState.Member) {
        self.init(publicKey: member.publicKey, isAdmin: member.isAdmin, name: member.name, picture: member.picture)
    }

    /// The member as in `list_members`.
    fileprivate var json: JSONValue {
        var json: JSONObject = ["pubkey": .string(self.publicKey.hex), "is_admin": .bool(self.isAdmin)]
        json["name"] = self.name.map(JSONValue.string)
        json["picture"] = self.picture.map(JSONValue.string)
        return .object(json)
    }
}

/// A group's profile: the one that an admin has set in it, or else the group's name and description.
package struct DaemonGroupProfile: Hashable, Sendable {
    package var nostrGroupID: String
    package var owner: PublicKey
    package var name: String
    package var about: String
    package var picture: String?

    var json: JSONObject {
        [
            "nostr_group_id": .string(self.nostrGroupID), "owner_pubkey": .string(self.owner.hex),
            "name": .string(self.name), "about": .string(self.about),
            "picture_url": self.picture.map(JSONValue.string) ?? .null,
        ]
    }
}

/// A change of a group.
package struct DaemonGroupUpdate: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case created
        case membersAdded = "members_added"
        case membersRemoved = "members_removed"
        case profileUpdated = "profile_updated"
        case left
    }

    package var kind: Kind
    package var nostrGroupID: String
    /// The group after the change; nil if this account is no longer a member.
    package var group: DaemonGroup?
    package var profile: DaemonGroupProfile?

    var json: JSONObject {
        var object: JSONObject = ["kind": .string(self.kind.rawValue), "nostr_group_id": .string(self.nostrGroupID)]
        if let group = self.group {
            object["member_count"] = .integer(Int64(group.members.count))
            if !group.members.isEmpty { object["members"] = group.memberList }
        }
        object["profile"] = (self.profile?.json).map(JSONValue.object)
        return object
    }
}

/// A pending invitation.
package struct DaemonWelcome: Hashable, Sendable {
    package var wrapper: EventID
    package var welcome: EventID
    package var inviter: PublicKey
    package var nostrGroupID: String
    package var groupName: String

    init(_ invite: AppState.InviteSummary) {
        self.wrapper = invite.wrapper
        self.welcome = invite.welcome
        self.inviter = invite.inviter
        self.nostrGroupID = invite.group?.nostrGroupID ?? ""
        self.groupName = invite.group?.name ?? ""
    }

    func fields(after first: JSONObject = [:]) -> JSONObject {
        var object = first
        object["wrapper_event_id"] = .string(self.wrapper.hex)
        object["welcome_event_id"] = .string(self.welcome.hex)
        object["from_pubkey"] = .string(self.inviter.hex)
        object["nostr_group_id"] = .string(self.nostrGroupID)
        object["group_name"] = .string(self.groupName)
        return object
    }
}
