import MLS
import Nostr

/// Downloads of files into the host's cache: the state holds their progress, never their content.
extension CoreModel {
    /// Downloads, decrypts and caches a file. Its outcome comes later.
    mutating func download(
        _ index: Int, of messageID: EventID, inChat chatID: ChatID, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        guard self.media.downloads(of: self.messageKey(messageID, in: groupID))[index] != .loading else {
            throw AppCoreError(.busy, "the file is being downloaded already")
        }
        self.set(.loading, index, of: messageID, in: groupID)
        let file = MediaFile(chatID: ChatID(groupID), messageID: messageID, index: index)
        step.effects.append(.download(file, groupID: groupID, request))
    }

    /// Records that the host's cache has a file, or that it is unavailable.
    mutating func receiveDownloaded(
        _ file: MediaFile, of groupID: GroupID, _ result: Result<String, AppCoreError>, _ request: RequestID?,
        _ step: inout CoreStep
    ) {
        switch result {
        case .success(let location):
            self.set(.stored(location: location), file.index, of: file.messageID, in: groupID)
            self.finish(request, .done(chatID: file.chatID), &step)
        case .failure(let error):
            self.set(.failed(error.message), file.index, of: file.messageID, in: groupID)
            self.fail(request, error, &step)
        }
    }

    private mutating func set(
        _ download: AppState.MediaDownload, _ index: Int, of messageID: EventID, in groupID: GroupID
    ) {
        self.media.set(download, index, of: self.messageKey(messageID, in: groupID))
        self.changeShown(messageID, in: groupID) { $0.downloads[index] = download }
    }
}
