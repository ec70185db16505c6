import MLS
import Marmot
import Nostr

/// The picture of a group (MIP-01): encrypted, uploaded under a separate key, then committed to the group data.
extension CoreModel {
    mutating func uploadGroupImage(
        _ image: OutgoingImage, ofChat chatID: ChatID, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        // Checked before the upload rather than after it.
        try self.requireMembership(in: groupID)
        guard let group = self.groups[groupID], group.isActive, group.isAdmin else {
            throw AppCoreError(.notAllowed, "only an admin may change the group's picture")
        }
        if group.generation == .v2 { return try self.uploadPicture(image, of: groupID, request, &step) }
        let type = try MediaType(image.mediaType)
        let encrypted = try GroupImageEncryption.encrypt(image.bytes, type: type, using: &step.random)
        guard let hash = Bytes32(encrypted.image.hash) else { preconditionFailure("SHA-256 gives 32 bytes") }
        let identity = try GroupImageEncryption.uploadIdentity(of: encrypted.image)
        let authorization = self.authorization(for: hash, by: identity.publicKey, step)
            .signed(by: identity, using: &step.random)
        let blob = MediaUpload(
            bytes: encrypted.blob, hash: hash, contentType: MediaType.octetStream.description,
            authorization: authorization)
        let operation = MediaOperation(groupID: groupID, goal: .image(encrypted.image), request: request)
        self.upload(self.media.begin(operation), [blob], to: image.servers, &step)
    }

    mutating func clearGroupImage(ofChat chatID: ChatID, _ request: RequestID?, _ step: inout CoreStep) throws {
        let groupID = try self.groupID(ofChat: chatID)
        guard let group = self.groups[groupID], group.generation == .v2 else {
            return self.addIntent(.set(.image(nil)), groupID, request, &step)
        }
        try self.requireMembership(in: groupID)
        self.clearAvatar(of: groupID, &step)
        self.addIntent(.set(.picture(GroupPicture(image: nil))), groupID, request, &step)
    }

    // MARK: The second generation

    private mutating func uploadPicture(
        _ image: OutgoingImage, of groupID: GroupID, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let type = try CanonicalMediaType(image.mediaType)
        let (blob, picture) = try BlossomImage.Reference.encrypting(image.bytes, type: type, using: &step.random)
        let identity = try picture.uploadIdentity()
        let authorization = self.authorization(for: picture.hash, by: identity.publicKey, step)
            .signed(by: identity, using: &step.random)
        let upload = MediaUpload(
            bytes: blob, hash: picture.hash, contentType: MediaType.octetStream.description,
            authorization: authorization)
        let operation = MediaOperation(
            groupID: groupID, goal: .picture(GroupPicture(image: picture)), request: request)
        self.upload(self.media.begin(operation), [upload], to: image.servers, &step)
    }

    /// Commits an uploaded picture, and removes the public one, which would take precedence.
    mutating func setPicture(_ picture: GroupPicture, of operation: MediaOperation, _ step: inout CoreStep) {
        self.clearAvatar(of: operation.groupID, &step)
        self.addIntent(.set(.picture(picture)), operation.groupID, operation.request, &step)
    }

    private mutating func clearAvatar(of groupID: GroupID, _ step: inout CoreStep) {
        guard self.groups[groupID]?.picture.avatar != nil else { return }
        self.addIntent(.set(.avatar(nil)), groupID, nil, &step)
    }
}

/// A picture for a group, used unchanged: no metadata is removed.
public struct OutgoingImage: Sendable, Hashable {
    /// The image file.
    public var bytes: [UInt8]
    /// An image type of MIP-04's list; the bytes must match its signature.
    public var mediaType: String
    /// Tried in order; if empty, those of ``CoreConfiguration/mediaServers``. The group data does not name the
    /// picture's server: members look on servers of their own.
    public var servers: [MediaURL]

    /// Creates a picture; checks neither bytes nor type.
    public init(bytes: [UInt8], mediaType: String, servers: [MediaURL] = []) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.servers = servers
    }
}
