import MLS
import Marmot
import Nostr

/// Files of messages (MIP-04): encryption, upload and references, and the keys of received files.
extension CoreModel {
    /// The maximum number of times files are encrypted because the group's epoch changed during the upload. After that
    /// the message is sent anyway: receivers also try the neighbouring epochs. In the second generation they do not, so
    /// it fails.
    static let maximumMediaAttempts = 3
    /// Seconds that an upload's authorization is valid.
    static let uploadLifetime: Int64 = 3600

    /// Encrypts the files for the current epoch and uploads them; the message follows when a server has them all.
    mutating func sendMedia(
        _ media: OutgoingMedia, toChat chatID: ChatID, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        guard (1...MediaAttachment.maximumCount).contains(media.files.count) else {
            throw AppCoreError(.notAllowed, "a message has 1 to \(MediaAttachment.maximumCount) files")
        }
        let total = media.files.reduce(0) { $0 + $1.bytes.count }
        guard total <= EncryptedMedia.maximumFileBytes else {
            throw AppCoreError(
                .notAllowed, "the files have \(total) bytes in total, the limit is \(EncryptedMedia.maximumFileBytes)")
        }
        try self.encryptAndUpload(media, groupID, attempt: 1, request, &step)
    }

    private mutating func encryptAndUpload(
        _ media: OutgoingMedia, _ groupID: GroupID, attempt: Int, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        try self.requireMembership(in: groupID)
        guard let group = self.groups[groupID], group.isActive else {
            throw AppCoreError(.notAllowed, "this account is no longer a member of the group")
        }
        if let policy = group.second?.tip.state.media,
            !policy.allowedKinds.contains(EncryptedMediaPolicy.blossom)
        {
            throw AppCoreError(.notAllowed, "the group does not allow files on Blossom servers")
        }
        var encrypted: [SealedFile] = []
        for file in media.files { encrypted.append(try SealedFile(file, for: group, using: &step.random)) }
        let goal = MediaOperation.Goal.message(media, encrypted, epoch: group.epoch, attempt: attempt)
        try self.begin(MediaOperation(groupID: groupID, goal: goal, request: request), &step)
    }

    /// Starts an operation; the upload begins as soon as it is authorized with this account's key.
    mutating func begin(_ operation: MediaOperation, _ step: inout CoreStep) throws {
        try self.tryKeyTask(.authorize(self.media.begin(operation)), &step)
    }

    /// Returns the events that authorize an operation's upload, to be signed by this account; nil if none are needed.
    func authorizations(of operation: Int, _ step: CoreStep) -> [UnsignedEvent]? {
        self.media.upload(operation)?.ownUploads?.files.map {
            self.authorization(for: $0.hash, by: self.account.publicKey, step)
        }
    }

    /// Returns the event that authorizes a blob's upload; `key` is its signer, who may also delete the blob.
    func authorization(for hash: Bytes32, by key: PublicKey, _ step: CoreStep) -> UnsignedEvent {
        BlossomAuthorization.draft(
            .upload, hashes: [hash], content: "Upload", by: key, now: step.now, lifetime: Self.uploadLifetime)
    }

    /// Uploads the files after their authorizations were signed.
    mutating func upload(_ operation: Int, authorizedBy events: [Event], _ step: inout CoreStep) {
        guard let (files, servers) = self.media.upload(operation)?.ownUploads else { return }
        let blobs = zip(files, events).map { entry, event in
            MediaUpload(
                bytes: entry.blob, hash: entry.hash, contentType: entry.contentType, authorization: event)
        }
        self.upload(operation, blobs, to: servers, &step)
    }

    func upload(_ operation: Int, _ blobs: [MediaUpload], to servers: [MediaURL], _ step: inout CoreStep) {
        step.effects.append(
            .upload(operation: operation, blobs, to: servers.isEmpty ? self.configuration.mediaServers : servers))
    }

    /// Ends an upload that could not be authorized.
    mutating func failUpload(_ number: Int, _ error: any Error, _ step: inout CoreStep) {
        guard let operation = self.media.end(number) else { return }
        let failure = (error as? SignerError).map {
            AppCoreError(.signerRefused, "the upload was not authorized: \($0.message)")
        }
        step.effects.append(.note(.sendFailed(reason: "media: \(error)")))
        self.fail(operation.request, failure ?? error, &step)
    }

    /// Continues an operation after the upload: `urls` in the order of the files.
    mutating func receiveUploaded(
        _ number: Int, _ result: Result<[String], AppCoreError>, _ step: inout CoreStep
    ) {
        guard let operation = self.media.end(number) else { return }
        self.finish(operation, result, &step)
    }

    /// Continues the uploads whose messages waited until nothing is undecided in their group.
    mutating func resumeUploads(of groupID: GroupID, _ step: inout CoreStep) {
        for (operation, urls) in self.media.popHeld(of: groupID) { self.finish(operation, .success(urls), &step) }
    }

    private mutating func finish(
        _ operation: MediaOperation, _ result: Result<[String], AppCoreError>, _ step: inout CoreStep
    ) {
        do {
            let urls = try result.get()
            switch operation.goal {
            // The files must be encrypted for the epoch in which the message is sent.
            case .message where self.mustWait(in: operation.groupID): self.media.hold(operation, at: urls)
            case .message(let media, let files, let epoch, let attempt):
                if self.groups[operation.groupID]?.epoch != epoch, attempt < Self.maximumMediaAttempts {
                    return try self.encryptAndUpload(
                        media, operation.groupID, attempt: attempt + 1, operation.request, &step)
                }
                let group = self.groups[operation.groupID]
                guard group?.generation != .v2 || group?.epoch == epoch else {
                    throw AppCoreError(
                        .mediaFailed, "the group changed \(attempt) times during the upload; send the files again")
                }
                let outcome = try self.send(media, files, urls, operation.groupID, operation.request, &step)
                if let outcome { self.finish(operation.request, outcome, &step) }
            case .profile(let draft, let file, let epoch, let attempt):
                try self.sendProfile(
                    draft, file, at: urls.first, epoch: epoch, attempt: attempt, operation, &step)
            case .picture(let picture): self.setPicture(picture, of: operation, &step)
            case .image(let image): self.addIntent(.set(.image(image)), operation.groupID, operation.request, &step)
            }
        } catch {
            step.effects.append(.note(.sendFailed(reason: "media: \(error)")))
            self.fail(operation.request, error, &step)
        }
    }

    private mutating func send(
        _ media: OutgoingMedia, _ files: [SealedFile], _ urls: [String], _ groupID: GroupID, _ request: RequestID?,
        _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        guard let chatID = self.chatID(of: groupID), urls.count == files.count else {
            throw AppCoreError(.mediaFailed, "the upload returned \(urls.count) addresses for \(files.count) files")
        }
        var tags = media.tags
        for (position, file) in files.enumerated() {
            let source = media.files[position]
            tags.append(try file.tag(at: urls[position], width: source.width, height: source.height))
        }
        return try self.send(
            OutgoingMessage(content: media.caption, tags: tags), toChat: chatID, request: request, &step)
    }

    /// Restores the stored secrets; called before the groups are restored.
    mutating func restoreMediaSecrets(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .mediaSecrets {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard self.media.restore(GroupID(name.key), content) else {
                throw AppCoreError(.corruptState, "the stored media secrets of a group cannot be read")
            }
        }
    }
}
