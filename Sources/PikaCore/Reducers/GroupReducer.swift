import MLS
import Marmot
import Nostr

/// Founding and changing groups.
extension CoreModel {
    mutating func createGroup(
        name: String, peers: [PublicKey], isDirect: Bool, _ request: RequestID?, _ step: inout CoreStep
    ) {
        let operation = self.begin(.createGroup(name: name, peers: peers, isDirect: isDirect), request)
        guard !peers.isEmpty else {
            self.continueOperation(operation, [], relayAnswered: true, &step)
            return
        }
        self.fetchKeyPackages(of: peers, operation, &step)
    }

    mutating func addMembers(
        _ peers: [PublicKey], toChat chatID: String, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireIdle(groupID)
        let operation = self.begin(.addMembers(groupID: groupID, peers: peers), request)
        self.fetchKeyPackages(of: peers, operation, &step)
    }

    mutating func rename(
        _ chatID: String, to name: String, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        guard var data = self.groups[try self.groupID(ofChat: chatID)]?.data else {
            throw AppCoreError(.unknownChat, "no chat has the id \(chatID)")
        }
        data.name = name
        try self.commit(.update(data), inChat: chatID, request, &step)
    }

    func requireIdle(_ groupID: [UInt8]) throws(AppCoreError) {
        guard self.groups[groupID]?.pending == nil else {
            throw AppCoreError(.busy, "another change to this group waits for a relay; try again when it is done")
        }
    }

    /// Goes on with an operation whose peers' key packages were looked for.
    mutating func continueOperation(
        _ number: Int, _ events: [Event], relayAnswered: Bool, _ step: inout CoreStep
    ) {
        guard let operation = self.end(number) else { return }
        do {
            switch operation.goal {
            case .createGroup(let name, let peers, let isDirect):
                let invitees = try self.invitees(peers, events, relayAnswered, step.now)
                let chatID = try self.found(name, invitees, isDirect: isDirect, &step)
                self.finish(operation.request, .done(chatID: chatID), &step)
            case .addMembers(let groupID, let peers):
                guard let chatID = self.groups[groupID]?.data.nostrGroupIDHex else { return }
                let invitees = try self.invitees(peers, events, relayAnswered, step.now)
                try self.commit(.add(invitees), inChat: chatID, operation.request, &step)
            case .commit: break
            }
        } catch { self.fail(operation.request, error, &step) }
    }

    private mutating func found(
        _ name: String, _ invitees: [Invitee], isDirect: Bool, _ step: inout CoreStep
    ) throws -> String {
        let own = self.account.publicKey
        guard let nostrGroupID = Bytes32(Secret.random(count: 32, using: &step.random).copyBytes()) else {
            preconditionFailure("32 bytes make a Bytes32")
        }
        let data = GroupData(
            nostrGroupID: nostrGroupID, name: name, description: "",
            admins: isDirect ? [own] + invitees.map(\.identity) : [own], relays: self.configuration.relays)
        let (group, welcomes) = try MarmotGroup.create(
            data, founder: own, inviting: invitees, client: self.configuration.client, now: step.now,
            using: &step.random)
        self.groups[group.groupID] = group
        self.index(group)
        self.dirtyGroups.insert(group.groupID)
        self.refreshChatList()
        self.resubscribe(&step)
        try self.send(welcomes, of: group, &step)
        return group.data.nostrGroupIDHex
    }

    /// Gift-wraps invitations and queues them.
    mutating func send(_ welcomes: [DueWelcome], of group: MarmotGroup, _ step: inout CoreStep) throws {
        for welcome in welcomes {
            let wrap = try GiftWrap.wrap(
                welcome.rumor, from: self.account, to: welcome.recipient, now: step.now, using: &step.random)
            self.enqueue(
                id: "welcome/\(Hex.encode(group.groupID))/\(group.epoch)/\(welcome.recipient.hex)", wrap,
                to: self.allRelays, .welcome, &step)
        }
    }
}
