import MLS
import Marmot
import Nostr

/// An upload in progress, and what to do once a server has the files. It ends with the process.
struct MediaOperation: Sendable {
    enum Goal: Sendable {
        /// A message with files, encrypted for an epoch; `attempt` from 1.
        case message(OutgoingMedia, [SealedFile], epoch: Epoch, attempt: Int)
        case image(GroupImage)
        /// As ``image(_:)``, in the second generation.
        case picture(GroupPicture)
        /// A profile for the group, with its picture; `attempt` from 1.
        case profile(ProfileDraft, EncryptedFile, epoch: Epoch, attempt: Int)
    }

    /// A blob to upload in the name of this account, and the content type sent to the server.
    struct OwnUpload: Sendable {
        let blob: [UInt8]
        let hash: Bytes32
        let contentType: String
    }

    /// The files that this account authorizes for upload, and the servers.
    var ownUploads: (files: [OwnUpload], servers: [MediaURL])? {
        switch self.goal {
        case .message(let media, let files, _, _):
            (
                files.map { OwnUpload(blob: $0.blob, hash: $0.blobHash, contentType: $0.contentType) },
                media.servers
            )
        case .profile(let draft, let file, _, _):
            (
                [
                    OwnUpload(
                        blob: file.blob, hash: file.blobHash, contentType: MediaType.octetStream.description)
                ], draft.image?.servers ?? []
            )
        // A group's picture is uploaded in the name of a separate key.
        case .image, .picture: nil
        }
    }

    let groupID: GroupID
    let goal: Goal
    let request: RequestID?
}
