import Marmot

/// An upload under way, and what follows when a server has the files. It ends with the process.
struct MediaOperation: Sendable {
    enum Goal: Sendable {
        /// A message with files, encrypted for an epoch; `attempt` from 1.
        case message(OutgoingMedia, [EncryptedFile], epoch: UInt64, attempt: Int)
        case image(GroupImage)
        /// A profile for the group, with its picture.
        case profile(ProfileDraft, EncryptedFile, epoch: UInt64, attempt: Int)
    }

    let groupID: [UInt8]
    let goal: Goal
    let request: RequestID?
}
