import Foundation
import Nostr
import PikaCore

/// Commands that change a group, or read and set its profile.
extension DaemonEngine {
    func changeGroup(_ command: DaemonCommand, key: String?) async throws(DaemonFailure) -> Done {
        switch command {
        case .initGroup(let peer, let name): try await self.initGroup(try self.publicKey(peer), name, key: key)
        case .addMembers(let chatID, let peers): try await self.add(try self.publicKeys(peers), chatID, key: key)
        case .removeMembers(let chatID, let peers): try await self.remove(try self.publicKeys(peers), chatID, key: key)
        case .leaveGroup(let chatID): try await self.leave(chatID, key: key)
        case .updateGroupProfile(let chatID, let name, let about):
            try await self.updateProfile(chatID, name.trimmed, about.trimmed, key: key)
        case .getGroupProfile(let chatID): Done(result: await self.profile(of: try self.group(chatID)).json)
        case .uploadGroupProfileImage(let chatID, let image, let type):
            try await self.uploadImage(chatID, image.trimmed, type.trimmed.lowercased(), key: key)
        default: Done()
        }
    }

    private func initGroup(_ peer: PublicKey, _ name: String, key: String?) async throws(DaemonFailure) -> Done {
        try self.requireRelays()
        let outcome = await self.outcome(of: .createChat(peer: peer, name: name), key: key)
        let group: DaemonGroup
        switch outcome {
        case .done(let chatID?): group = try self.group(chatID)
        case .partlyDone(_, let left):
            throw DaemonFailure(.publishFailed, "the group stands, its invitation does not: \(Self.words(left))")
        default: throw Self.membershipFailure(outcome)
        }
        var done = Done(
            result: [
                "nostr_group_id": .string(group.nostrGroupID), "mls_group_id": .string(group.chatID),
                "peer_pubkey": .string(peer.hex),
            ], after: [.groupCreated(group, peer: peer)])
        done.before = await self.update(.created, group.chatID).map { [.groupUpdated($0)] } ?? []
        return done
    }

    private func add(_ peers: [PublicKey], _ text: String, key: String?) async throws(DaemonFailure) -> Done {
        try self.requireRelays()
        let chatID = try self.group(text).chatID
        let outcome = await self.change(chatID, .addGroupMembers(chatID: chatID, peers: peers), key: key)
        var delivered = peers.count
        switch outcome {
        case .done: break
        case .partlyDone(_, let left): delivered -= left.count
        default: throw Self.membershipFailure(outcome)
        }
        let group = try self.groupAfter("add_members", chatID)
        return Done(
            before: await self.update(.membersAdded, chatID).map { [.groupUpdated($0)] } ?? [],
            result: [
                "nostr_group_id": .string(group.nostrGroupID), "added_pubkeys": .array(peers.map { .string($0.hex) }),
                "member_count": .integer(Int64(group.members.count)),
                "welcome_delivery_count": .integer(Int64(max(0, delivered))),
            ])
    }

    private func remove(_ peers: [PublicKey], _ text: String, key: String?) async throws(DaemonFailure) -> Done {
        try self.requireRelays()
        let chatID = try self.group(text).chatID
        let outcome = await self.change(chatID, .removeGroupMembers(chatID: chatID, peers: peers), key: key)
        guard case .done = outcome else { throw Self.membershipFailure(outcome) }
        let group = try self.groupAfter("remove_members", chatID)
        return Done(
            before: await self.update(.membersRemoved, chatID).map { [.groupUpdated($0)] } ?? [],
            result: [
                "nostr_group_id": .string(group.nostrGroupID), "removed_pubkeys": .array(peers.map { .string($0.hex) }),
                "member_count": .integer(Int64(group.members.count)),
            ])
    }

    private func leave(_ text: String, key: String?) async throws(DaemonFailure) -> Done {
        try self.requireRelays()
        // A retry: the group left under this key may be gone.
        let chatID =
            key == nil ? try self.group(text).chatID : try self.chat(text)?.chatID ?? text.lowercased()
        self.departed.insert(chatID)
        let outcome = await self.change(chatID, .leaveGroup(chatID: chatID), key: key)
        guard case .done = outcome else {
            self.departed.remove(chatID)
            throw Self.membershipFailure(outcome)
        }
        return Done(
            before: [.groupUpdated(self.leftUpdate(chatID))],
            result: ["nostr_group_id": .string(self.state.nostrGroupID(ofChat: chatID))])
    }

    /// Performs the action, and suppresses the core's own report of the change.
    private func change(_ chatID: String, _ action: AppAction, key: String?) async -> ActionOutcome? {
        self.changing.insert(chatID)
        let outcome = await self.outcome(of: action, key: key)
        _ = await self.waitUntilTold()
        self.changing.remove(chatID)
        return outcome
    }

    // MARK: Profile

    /// Returns the group's profile: the newest one that an admin has set in it. The group's name and description
    /// replace missing fields.
    func profile(of group: DaemonGroup) async -> DaemonGroupProfile {
        let admins = group.members.filter(\.isAdmin).map(\.publicKey)
        let known = (try? await self.core.groupProfiles(chatID: group.chatID)) ?? []
        let profile = known.first { admins.contains($0.publicKey) }
        return DaemonGroupProfile(
            nostrGroupID: group.nostrGroupID, owner: profile?.publicKey ?? self.core.account,
            name: profile?.displayName?.nonBlank ?? profile?.name?.nonBlank ?? group.name,
            about: profile?.about?.nonBlank ?? group.description, picture: profile?.picture?.nonBlank)
    }

    private func updateProfile(
        _ text: String, _ name: String, _ about: String, key: String?
    ) async throws(DaemonFailure) -> Done {
        guard !name.isEmpty || !about.isEmpty else {
            throw DaemonFailure(.badRequest, "name or about must not be empty")
        }
        let chatID = try self.group(text).chatID
        return try await self.saveProfile(ProfileDraft(name: name, about: about), chatID, key: key)
    }

    private func uploadImage(
        _ text: String, _ image: String, _ type: String, key: String?
    ) async throws(DaemonFailure) -> Done {
        guard !image.isEmpty else { throw DaemonFailure(.badRequest, "image_base64 must not be empty") }
        guard let data = Data(base64Encoded: image) else {
            throw DaemonFailure(.badRequest, "invalid image data: not base64")
        }
        guard !data.isEmpty else { throw DaemonFailure(.badRequest, "image data must not be empty") }
        guard data.count <= 8 << 20 else { throw DaemonFailure(.badRequest, "image too large (max 8 MB)") }
        guard !type.isEmpty else { throw DaemonFailure(.badMIMEType, "mime_type must not be empty") }
        guard type.hasPrefix("image/") else { throw DaemonFailure(.badMIMEType, "mime_type must start with image/") }
        let chatID = try self.group(text).chatID
        let draft = ProfileDraft(image: OutgoingImage(bytes: [UInt8](data), mediaType: type))
        return try await self.saveProfile(draft, chatID, key: key)
    }

    private func saveProfile(_ draft: ProfileDraft, _ chatID: String, key: String?) async throws(DaemonFailure) -> Done
    {
        let outcome = await self.outcome(
            of: .saveGroupProfile(chatID: chatID, draft), key: key, within: self.settings.mediaPatience)
        switch outcome {
        case .failed(let error) where [.mediaFailed, .noMediaServer].contains(error.code):
            throw DaemonFailure(.uploadFailed, error.message)
        case .failed(let error): throw DaemonFailure(.mdkError, error.message)
        case nil: throw DaemonFailure(.publishFailed, "no relay has answered in time; it stays queued")
        case .queued(let messageID, _):
            if self.settings.waitsForRelays { try await self.waitForDelivery(of: messageID) }
        case .done, .partlyDone, .found: break
        }
        let group = try self.group(chatID)
        return Done(
            before: await self.update(.profileUpdated, chatID).map { [.groupUpdated($0)] } ?? [],
            result: await self.profile(of: group).json)
    }

    // MARK: Lookups

    private func requireRelays() throws(DaemonFailure) {
        guard !self.settings.core.relays.isEmpty else { throw DaemonFailure(.badRelays, "no relays configured") }
    }

    private func groupAfter(_ command: String, _ chatID: String) throws(DaemonFailure) -> DaemonGroup {
        guard let group = self.groupIfThere(chatID) else {
            throw DaemonFailure(.runtimeError, "lookup joined group after \(command): it is gone")
        }
        return group
    }

    private static func membershipFailure(_ outcome: ActionOutcome?) -> DaemonFailure {
        guard let outcome else {
            return DaemonFailure(.publishFailed, "no relay has answered in time; the change stays queued")
        }
        guard case .failed(let error) = outcome else {
            return DaemonFailure(.runtimeError, "the action ended in an unexpected way")
        }
        let code: DaemonFailure.Code =
            switch error.code {
            case .unknownChat, .ambiguousChat: .badGroupID
            case .noKeyPackage: .noKeyPackages
            case .noRelay: .fetchFailed
            case .refused: .publishFailed
            case .displaced, .contested: .mergeFailed
            case .notAllowed, .busy, .overtaken: .mdkError
            default: .runtimeError
            }
        return DaemonFailure(code, error.message)
    }

    private static func words(_ left: [PublicKey: LeftOut]) -> String {
        left.map { "\($0.key.hex): \($0.value)" }.sorted().joined(separator: "; ")
    }
}
