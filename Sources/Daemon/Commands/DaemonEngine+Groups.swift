import Nostr
import PikaCore

/// Commands that change a group, or read and set its profile.
extension DaemonEngine {
    func perform(group command: DaemonCommand, key: String?) async throws(DaemonFailure) -> CommandResult {
        switch command {
        case .initGroup(let peer, let name):
            return try await self.initGroup(try CommandArguments.publicKey(peer), name, key: key)
        case .addMembers(let chatID, let peers):
            return try await self.add(try CommandArguments.publicKeys(peers), chatID, key: key)
        case .removeMembers(let chatID, let peers):
            return try await self.remove(try CommandArguments.publicKeys(peers), chatID, key: key)
        case .leaveGroup(let chatID): return try await self.leave(chatID, key: key)
        case .updateGroupProfile(let chatID, let name, let about):
            let draft = try CommandArguments.profileDraft(name: name.trimmed, about: about.trimmed)
            return try await self.saveProfile(draft, try self.machine.group(chatID).chatID, key: key)
        case .getGroupProfile(let chatID):
            return CommandResult(result: await self.profile(of: try self.machine.group(chatID)).json)
        case .uploadGroupProfileImage(let chatID, let image, let type):
            let draft = try CommandArguments.profileDraft(image: image.trimmed, type: type.trimmed.lowercased())
            return try await self.saveProfile(draft, try self.machine.group(chatID).chatID, key: key)
        default: return CommandResult()
        }
    }

    private func initGroup(
        _ peer: PublicKey, _ name: String, key: String?
    ) async throws(DaemonFailure) -> CommandResult {
        try self.machine.requireRelays()
        let outcome = await self.outcome(of: .createChat(peer: peer, name: name), key: key)
        let group: DaemonGroup
        switch outcome {
        case .done(let chatID?): group = try self.machine.group(chatID)
        case .partlyDone(_, let left): throw DaemonFailure.invitationsFailed(left)
        default: throw DaemonFailure.membership(outcome)
        }
        return CommandResult(
            before: await self.updates(.created, group.chatID),
            result: [
                "nostr_group_id": .string(group.nostrGroupID), "mls_group_id": .string(group.chatID),
                "peer_pubkey": .string(peer.hex),
            ], after: [.groupCreated(group, peer: peer)])
    }

    private func add(_ peers: [PublicKey], _ text: String, key: String?) async throws(DaemonFailure) -> CommandResult {
        try self.machine.requireRelays()
        let chatID = try self.machine.group(text).chatID
        let outcome = await self.change(chatID, .addGroupMembers(chatID: chatID, peers: peers), key: key)
        var delivered = peers.count
        switch outcome {
        case .done: break
        case .partlyDone(_, let left): delivered -= left.count
        default: throw DaemonFailure.membership(outcome)
        }
        let group = try self.groupAfter("add_members", chatID)
        return CommandResult(
            before: await self.updates(.membersAdded, chatID),
            result: [
                "nostr_group_id": .string(group.nostrGroupID), "added_pubkeys": .array(peers.map { .string($0.hex) }),
                "member_count": .integer(Int64(group.members.count)),
                "welcome_delivery_count": .integer(Int64(max(0, delivered))),
            ])
    }

    private func remove(
        _ peers: [PublicKey], _ text: String, key: String?
    ) async throws(DaemonFailure) -> CommandResult {
        try self.machine.requireRelays()
        let chatID = try self.machine.group(text).chatID
        let outcome = await self.change(chatID, .removeGroupMembers(chatID: chatID, peers: peers), key: key)
        guard case .done = outcome else { throw DaemonFailure.membership(outcome) }
        let group = try self.groupAfter("remove_members", chatID)
        return CommandResult(
            before: await self.updates(.membersRemoved, chatID),
            result: [
                "nostr_group_id": .string(group.nostrGroupID), "removed_pubkeys": .array(peers.map { .string($0.hex) }),
                "member_count": .integer(Int64(group.members.count)),
            ])
    }

    private func leave(_ text: String, key: String?) async throws(DaemonFailure) -> CommandResult {
        try self.machine.requireRelays()
        // A retry: the group left under this key may be gone.
        let chatID =
            key == nil ? try self.machine.group(text).chatID : try self.machine.chat(text)?.chatID ?? text.lowercased()
        self.machine.memberships.beginLeaving(chatID)
        let outcome = await self.change(chatID, .leaveGroup(chatID: chatID), key: key)
        guard case .done = outcome else {
            self.machine.memberships.cancelLeaving(chatID)
            throw DaemonFailure.membership(outcome)
        }
        return CommandResult(
            before: await self.updates(.left, chatID),
            result: ["nostr_group_id": .string(self.machine.nostrGroupID(of: chatID))])
    }

    /// Performs the action, and suppresses the core's own report of the change.
    private func change(_ chatID: String, _ action: AppAction, key: String?) async -> ActionOutcome? {
        self.machine.memberships.beginChange(of: chatID)
        let outcome = await self.outcome(of: action, key: key)
        _ = await self.waitUntilDelivered()
        self.machine.memberships.endChange(of: chatID)
        return outcome
    }

    private func groupAfter(_ command: String, _ chatID: String) throws(DaemonFailure) -> DaemonGroup {
        guard let group = self.machine.groupIfKnown(chatID) else {
            throw DaemonFailure(.runtimeError, "lookup joined group after \(command): the group is gone")
        }
        return group
    }

    // MARK: Profile

    /// Returns the group's profile: the newest one that an admin has set in it. The group's name and description
    /// replace missing fields.
    func profile(of group: DaemonGroup) async -> DaemonGroupProfile {
        let known = (try? await self.core.groupProfiles(chatID: group.chatID)) ?? []
        return group.profile(among: known, account: self.core.account)
    }

    private func saveProfile(
        _ draft: ProfileDraft, _ chatID: String, key: String?
    ) async throws(DaemonFailure) -> CommandResult {
        let outcome = await self.outcome(
            of: .saveGroupProfile(chatID: chatID, draft), key: key, within: self.machine.settings.mediaPatience)
        switch outcome {
        case .failed(let error): throw DaemonFailure.profile(error)
        case nil: throw DaemonFailure(.publishFailed, "no relay answered in time; it stays queued")
        case .queued(let messageID, _):
            if self.machine.settings.waitsForRelays { try await self.waitForDelivery(of: messageID) }
        case .done, .partlyDone, .found: break
        }
        let group = try self.machine.group(chatID)
        return CommandResult(
            before: await self.updates(.profileUpdated, chatID), result: await self.profile(of: group).json)
    }
}
