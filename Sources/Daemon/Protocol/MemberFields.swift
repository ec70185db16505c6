package import Nostr
package import PikaCore

extension AppState.ChatSummary {
    /// The members of the chat, for `list_members` and the command line: all, and separately this account and the others.
    package var membersJSON: JSONObject {
        let all = self.allMembers.sorted { $0.publicKey < $1.publicKey }
        var json: JSONObject = [
            "nostr_group_id": .string(self.nostrGroupID), "members": .array(all.map(\.json)),
            "member_count": .integer(Int64(all.count)),
        ]
        json["me"] = self.me?.json
        json["others"] = .array(all.filter { $0.publicKey != self.me?.publicKey }.map(\.json))
        json["admins"] = .array(all.filter(\.isAdmin).map { .string($0.publicKey.hex) })
        json["relays"] = .array(self.relays.map { .string($0.string) })
        json["proposals"] = .array(self.proposals.map(\.json))
        return json
    }
}

extension AppState.Member {
    /// The member with its name and picture, if they are known.
    package var json: JSONValue {
        var json: JSONObject = ["pubkey": .string(self.publicKey.hex), "is_admin": .bool(self.isAdmin)]
        json["name"] = self.name.map(JSONValue.string)
        json["picture"] = self.picture.map(JSONValue.string)
        return .object(json)
    }
}

extension AppState.WaitingProposal {
    /// The proposal: its author, the change, and the account that is removed or added, if it is known.
    package var json: JSONValue {
        var json: JSONObject = ["from_pubkey": .string(self.proposer.hex)]
        switch self.change {
        case .departure: json["change"] = "departure"
        case .removal(let member):
            json["change"] = "removal"
            json["pubkey"] = .string(member.hex)
        case .addition(let account):
            json["change"] = "addition"
            json["pubkey"] = account.map { .string($0.hex) }
        }
        return .object(json)
    }
}
