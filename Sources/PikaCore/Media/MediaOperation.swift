import MLS
import Marmot

/// An upload in progress, and what to do once a server has the files. It ends with the process.
struct MediaOperation: Sendable {
    enum Goal: Sendable {
        /// A message with files, encrypted for an epoch; `attempt` from 1.
        case message(OutgoingMedia, [EncryptedFile], epoch: Epoch, attempt: Int)
        case image(GroupImage)
        /// A profile for the group, with its picture; `attempt` from 1.
        case profile(ProfileDraft, EncryptedFile, epoch: Epoch, attempt: Int)
    }

    /// The files that this account authorizes for upload, each with the content type sent to the server, and the
    /// servers.
    var ownUploads: (files: [(file: EncryptedFile, contentType: String)], servers: [MediaURL])? {
        switch self.goal {
        case .message(let media, let files, _, _): (files.map { ($0, $0.type.description) }, media.servers)
        case .profile(let draft, let file, _, _):
            ([(file, MediaType.octetStream.description)], draft.image?.servers ?? [])
        // A group's picture is uploaded in the name of a separate key.
        case .image: nil
        }
    }

    let groupID: GroupID
    let goal: Goal
    let request: RequestID?
}
