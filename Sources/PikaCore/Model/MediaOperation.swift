import MLS
import Marmot

/// An upload under way, and what follows when a server has the files. It ends with the process.
struct MediaOperation: Sendable {
    enum Goal: Sendable {
        /// A message with files, encrypted for an epoch; `attempt` from 1.
        case message(OutgoingMedia, [EncryptedFile], epoch: Epoch, attempt: Int)
        case image(GroupImage)
        /// A profile for the group, with its picture.
        case profile(ProfileDraft, EncryptedFile, epoch: Epoch, attempt: Int)
    }

    /// The files that this account asks a server to keep, each with the type that the server is told, and where.
    var ownUploads: (files: [(file: EncryptedFile, contentType: String)], servers: [MediaURL])? {
        switch self.goal {
        case .message(let media, let files, _, _): (files.map { ($0, $0.type.description) }, media.servers)
        case .profile(let draft, let file, _, _):
            ([(file, MediaType.octetStream.description)], draft.image?.servers ?? [])
        // A group's picture is in the name of a key of its own.
        case .image: nil
        }
    }

    let groupID: GroupID
    let goal: Goal
    let request: RequestID?
}
