public import MLS
public import Nostr

/// Event with an application message, ready to publish.
public struct SealedMessage: Sendable {
    /// The kind 445 event.
    public let event: Event
    /// The inner event with its id.
    public let payload: AppPayload
    /// SHA-256 of the MLSMessage, by which this member's own echo is recognised.
    public let digest: Bytes32
    /// The epoch in which the message was sent.
    public let epoch: Epoch
}

/// Application message whose sender MLS has authenticated. It witnesses its branch even if its payload is invalid.
public struct AuthenticatedMessage: Sendable {
    /// SHA-256 of the MLSMessage.
    public let digest: Bytes32
    /// The epoch in which it was sent.
    public let epoch: Epoch
    /// The sender's account in that epoch.
    public let sender: PublicKey
    /// The sender's leaf in that epoch.
    public let leaf: LeafIndex
    /// Whether the sender was an admin in that epoch; deletions and dismissals by others do not count.
    public let isAdmin: Bool
    /// The inner event, or the reason why it is invalid: then this message is never delivered, but others are.
    public let payload: Result<AppPayload, MarmotError>
    /// When local copies must be deleted, by the retention of the message's epoch; nil if never.
    public let expiresAt: UnixTime?
}

/// Application messages.
extension ComponentGroup {
    /// Encrypts an inner event, consuming a message key: store the group before the event leaves, so that no key is used
    /// twice. The event has the time of the inner event, so create that at the time of sending.
    ///
    /// - Parameter rumor: an event by this account.
    public mutating func seal(
        _ rumor: UnsignedEvent, using rng: inout some RandomNumberGenerator
    ) throws -> SealedMessage {
        try self.requireActive()
        guard rumor.pubkey == self.account else {
            throw MarmotError(.identityMismatch, "an inner event's author must be the sending account")
        }
        guard !self.isLeaving else {
            throw MarmotError(.inactive, "this member has asked to leave and sends nothing more")
        }
        let payload = AppPayload(rumor)
        let json = payload.encoded
        guard json.count <= AppPayload.maximumBytes else {
            throw MarmotError(
                .tooLarge, "the message has \(json.count) bytes, peers read at most \(AppPayload.maximumBytes)")
        }
        let message = try self.mls.protect(json, using: &rng)
        let event = try GroupEnvelope.seal(
            message,
            as: .message(createdAt: rumor.createdAt, expiration: self.state.expiry(ofMessageAt: rumor.createdAt)),
            key: self.outerKey, nostrGroupID: self.nostrGroupID, using: &rng)
        return SealedMessage(
            event: event, payload: payload, digest: Bytes32(sha256: message), epoch: self.epoch)
    }

    /// Decrypts and verifies an application message to deliver; its key is deleted, so it cannot be read twice.
    public mutating func receive(_ message: GroupMessage) throws(MLSError) -> AuthenticatedMessage {
        // Only an application message is processed, so the group changes only if it is authentic.
        guard message.content == .application else { throw Self.notApplication }
        let received: Received
        do { received = try self.mls.process(message.message, now: nil) } catch { throw Self.mlsError(error) }
        guard case .application(let application) = received else { throw Self.notApplication }
        return try self.authenticated(application, message)
    }

    /// Decrypts and verifies an application message as ``receive(_:)`` does, and changes nothing: to learn on which
    /// branch it was sent.
    public func reading(_ message: GroupMessage) throws(MLSError) -> AuthenticatedMessage {
        let application: ApplicationMessage
        do { application = try self.mls.reading(message.message) } catch { throw Self.mlsError(error) }
        return try self.authenticated(application, message)
    }

    /// Consumes the key of a message that a copy of this value sent. Returns false, without a change, for all other
    /// messages.
    mutating func consumeOwnKey(of message: GroupMessage) -> Bool { self.mls.consumeOwnKey(of: message.message) != nil }

    private static func mlsError(_ error: any Error) -> MLSError {
        error as? MLSError ?? MLSError(.malformed, "\(error)")
    }

    private static var notApplication: MLSError {
        MLSError(.malformed, "expected an application message, found another message")
    }

    private func authenticated(
        _ application: ApplicationMessage, _ message: GroupMessage
    ) throws(MLSError) -> AuthenticatedMessage {
        guard let sender = application.senderLeaf.statedIdentity else {
            throw MLSError(.invalidSender, "the sender's credential is not a Nostr public key")
        }
        let payload: Result<AppPayload, MarmotError>
        do throws(MarmotError) { payload = .success(try AppPayload(application.data, from: sender)) } catch {
            payload = .failure(error)
        }
        let retention =
            application.epoch == self.epoch
            ? self.retentionSeconds : self.past.first { $0.epoch == application.epoch }?.retentionSeconds ?? 0
        var expiresAt: UnixTime?
        if case .success(let payload) = payload {
            expiresAt = MessageRetention(seconds: retention).expiry(ofMessageAt: payload.event.createdAt)
        }
        return AuthenticatedMessage(
            digest: message.digest, epoch: application.epoch, sender: sender, leaf: application.sender,
            isAdmin: self.wasAdmin(sender, in: application.epoch) ?? false, payload: payload, expiresAt: expiresAt)
    }

    /// Returns this value without the message keys that `other` has consumed in epochs that both share: call it when a
    /// kept value becomes the one in use. Own sends use no key of a shared epoch twice (RFC 9420 §9.2).
    public func withoutKeys(consumedBy other: ComponentGroup) -> ComponentGroup {
        var result = self
        result.mls = self.mls.withoutKeys(consumedBy: other.mls)
        return result
    }

    /// Whether the secrets were deleted, because this account is out of the group.
    package var isErased: Bool { self.mls.isErased }

    /// Deletes the message secrets of epochs before `epoch`, in a value that is kept only for choosing a branch.
    public mutating func deleteMessageSecrets(before epoch: Epoch) {
        self.mls.deleteMessageSecrets(before: epoch)
        self.past.removeAll { $0.epoch < epoch }
        self.headerChanged = true
    }
}
