import MLS
import Marmot
import Nostr

/// Members' profiles in one group only: kind 0 inside the group (docs/protocol/marmot.md §8.3).
extension CoreModel {
    /// The maximum size of a picture before encryption, in bytes, as in Pika.
    static let maximumPictureBytes = 8 << 20
    /// Seconds by which a profile may be dated ahead of the clock.
    private static let maximumLead: Int64 = 120

    func ownGroupProfile(_ groupID: GroupID) -> GroupProfile? {
        self.people.groups[groupID][self.account.publicKey]
    }

    private mutating func put(
        _ profile: GroupProfile, of key: PublicKey, in groupID: GroupID, _ step: inout CoreStep
    ) {
        if self.people.put(profile, of: key, in: groupID, &step) {
            self.refreshNames(of: [key], inGroup: groupID)
        }
    }

    // MARK: Receiving

    /// Applies a kind 0 message, own ones included: its author's profile, or one that an admin relays.
    mutating func receiveGroupProfile(_ message: StoredMessage, _ step: inout CoreStep) {
        let (rumor, groupID) = (message.rumor, message.groupID)
        guard let metadata = try? ProfileMetadata(content: rumor.content) else {
            return self.refuseProfile("the profile is not a JSON object, or too long", &step)
        }
        guard let owner = self.owner(of: message) else {
            return self.refuseProfile("only an admin may send another member's profile", &step)
        }
        let known = self.people.groups[groupID][owner]
        let isDirect = owner == rumor.pubkey
        if let known {
            // A profile from its owner takes precedence. Of profiles of the same origin the newest counts; of equal
            // times, the last to arrive.
            guard isDirect || !known.isDirect else { return }
            if !message.isOwn, isDirect == known.isDirect, known.source.createdAt > message.time { return }
        } else if let members = self.groups[groupID]?.members {
            self.people.removeFormerProfiles(in: groupID, members: members, &step)
        }
        let source = ProfileSource(
            id: message.id, createdAt: message.time, content: ProfileSource.reduced(rumor.content))
        let sentEpoch = message.isOwn && isDirect ? message.epoch : nil
        self.put(
            GroupProfile(
                of: owner, source: source, isDirect: isDirect,
                picture: self.picture(metadata.picture, of: message, known: known), sentEpoch: sentEpoch),
            of: owner, in: groupID, &step)
    }

    private func refuseProfile(_ detail: String, _ step: inout CoreStep) {
        step.effects.append(.note(.refused(reason: CountedReason.badGroupProfile.rawValue, detail: detail)))
    }

    /// Returns the owner of the profile; nil if the author may not publish it.
    private func owner(of message: StoredMessage) -> PublicKey? {
        guard let tag = message.rumor.tags.first(named: "p") else { return message.rumor.pubkey }
        guard let owner = tag.value.flatMap({ try? PublicKey(hex: $0) }) else { return nil }
        if owner == message.rumor.pubkey { return owner }
        guard let group = self.groups[message.groupID], owner != self.account.publicKey,
            group.members.contains(owner), group.wasAdmin(message.rumor.pubkey, in: message.epoch) == true
        else { return nil }
        return owner
    }

    /// Returns the picture's reference: the message's, or the known one for the same address, since only the message
    /// that changes the picture carries it.
    private func picture(
        _ address: String?, of message: StoredMessage, known: GroupProfile?
    ) -> GroupProfile.Picture? {
        guard let address else { return nil }
        if let file = MediaAttachment.references(in: message.rumor.tags).first(where: { $0.url == address }) {
            let secrets = self.media.secrets(of: message.groupID, around: message.epoch)
            return GroupProfile.Picture(
                reference: file.tag, keys: secrets.map { MediaKey(of: file, secret: $0).secret })
        }
        return known?.source.metadata?.picture == address ? known?.picture : nil
    }

    /// Marks profiles as indirect after another invitation: only admins know what members sent while this account was
    /// away.
    mutating func markGroupProfilesIndirect(of groupID: GroupID, _ step: inout CoreStep) {
        for (key, profile) in self.people.groups[groupID]
        where profile.isDirect && key != self.account.publicKey {
            var profile = profile
            profile.isDirect = false
            self.put(profile, of: key, in: groupID, &step)
        }
    }

    // MARK: Writing

    mutating func saveGroupProfile(
        _ draft: ProfileDraft, ofChat chatID: ChatID, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        let groupID = try self.groupID(ofChat: chatID)
        try draft.check()
        guard let image = draft.image else { return try self.send(draft, tags: [], groupID, request, &step) }
        guard image.bytes.count <= Self.maximumPictureBytes else {
            throw AppCoreError(.notAllowed, "a profile's picture has at most \(Self.maximumPictureBytes) bytes")
        }
        guard try MediaType(image.mediaType).isImage else {
            throw AppCoreError(.notAllowed, "a profile's picture must be an image")
        }
        try self.uploadPicture(draft, image, groupID, attempt: 1, request, &step)
        return nil
    }

    private mutating func uploadPicture(
        _ draft: ProfileDraft, _ image: OutgoingImage, _ groupID: GroupID, attempt: Int, _ request: RequestID?,
        _ step: inout CoreStep
    ) throws {
        try self.requireMembership(in: groupID)
        guard let group = self.groups[groupID], group.isActive else {
            throw AppCoreError(.notAllowed, "this account is no longer a member of the group")
        }
        let type = try MediaType(image.mediaType)
        let file = try EncryptedMedia.encrypt(
            image.bytes, type: type, filename: "profile.\(type.description.drop { $0 != "/" }.dropFirst())",
            secret: group.mediaSecret, using: &step.random)
        try self.begin(
            MediaOperation(
                groupID: groupID, goal: .profile(draft, file, epoch: group.epoch, attempt: attempt), request: request),
            &step)
    }

    /// Sends the profile once a server has the picture. If a commit came first, the picture is encrypted again, so that
    /// it can be opened.
    mutating func sendProfile(
        _ draft: ProfileDraft, _ file: EncryptedFile, at url: String?, epoch: Epoch, attempt: Int,
        _ operation: MediaOperation, _ step: inout CoreStep
    ) throws {
        guard let url else { throw AppCoreError(.mediaFailed, "the upload returned no address for the picture") }
        if self.groups[operation.groupID]?.epoch != epoch, attempt < Self.maximumMediaAttempts,
            let image = draft.image
        {
            return try self.uploadPicture(
                draft, image, operation.groupID, attempt: attempt + 1, operation.request, &step)
        }
        var draft = draft
        draft.picture = url
        let tag = try file.reference(url: url).tag
        let outcome = try self.send(draft, tags: [tag], operation.groupID, operation.request, &step)
        if let outcome { self.finish(operation.request, outcome, &step) }
    }

    private mutating func send(
        _ draft: ProfileDraft, tags: [Tag], _ groupID: GroupID, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        var profile = self.ownGroupProfile(groupID)?.source.metadata ?? ProfileMetadata()
        draft.apply(to: &profile)
        return try self.send(profile.content, tags: tags, groupID, request, &step)
    }

    private mutating func send(
        _ content: String, tags: [Tag], _ groupID: GroupID, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        guard let chatID = self.chatID(of: groupID) else {
            throw AppCoreError(.unknownChat, "the group no longer exists")
        }
        // Members keep the newest profile: this one must not be dated before the last, which may be ahead of the clock.
        let last = self.ownGroupProfile(groupID)?.source.createdAt ?? 0
        return try self.send(
            OutgoingMessage(kind: .metadata, content: content, tags: tags), toChat: chatID,
            notBefore: last.seconds(since: step.now) <= Self.maximumLead ? last : 0, request: request, &step)
    }

    // MARK: Announcing profiles

    /// After a commit, announces this account's own profile; an admin also sends the members it added all other
    /// profiles (docs/protocol/marmot.md §8.3).
    mutating func announceProfiles(after report: CommitReport, of groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID], group.isActive, !self.hasLeft(groupID) else { return }
        if report.isOwn, report.added.isEmpty {
            // No member was added.
            if var own = self.ownGroupProfile(groupID) {
                own.sentEpoch = group.epoch
                self.put(own, of: self.account.publicKey, in: groupID, &step)
            }
            return
        }
        if self.ownGroupProfile(groupID) != nil { self.people.markGroupProfileUnsent(in: groupID) }
        guard report.isOwn, group.isAdmin else { return }
        let members = Set(group.members).subtracting(report.added + [self.account.publicKey])
        for (key, profile) in self.people.groups[groupID].sorted(by: { $0.key < $1.key })
        where members.contains(key) {
            self.sendProfileContent(profile.source.content, tags: [.user(key)], groupID, &step)
        }
    }

    /// Sends due profiles at the end of an input: once for all its commits, and not while older events are being
    /// read.
    mutating func announceDueProfiles(_ step: inout CoreStep) {
        for groupID in self.people.groups.unsent where !self.isReading(groupID) {
            self.people.markGroupProfileSent(in: groupID)
            guard let own = self.ownGroupProfile(groupID), let group = self.groups[groupID], group.isActive,
                !self.hasLeft(groupID), own.sentEpoch ?? 0 < group.epoch
            else { continue }
            self.sendProfileContent(own.source.content, tags: [], groupID, &step)
        }
    }

    private mutating func sendProfileContent(_ content: String, tags: [Tag], _ groupID: GroupID, _ step: inout CoreStep)
    {
        do { _ = try self.send(content, tags: tags, groupID, nil, &step) } catch {
            step.effects.append(.note(.sendFailed(reason: "group profile: \(error)")))
        }
    }
}
