extension BotContext {
    /// Sends files, with a caption, to the event's chat or to another one.
    ///
    /// After the handler has returned, the files are encrypted and uploaded, and a message that refers to them is sent
    /// (MIP-04). ``OnOutcome`` reports the result. Files are sent unmodified: a photo keeps
    /// its metadata, such as location and camera model.
    @discardableResult
    public func send(media files: [OutgoingFile], caption: String = "", to chatID: ChatID? = nil) -> ActionID {
        guard let chatID = chat(chatID) else { return noAction }
        return dispatch(.sendMedia(chatID: chatID, OutgoingMedia(files: files, caption: caption)))
    }

    /// Downloads and decrypts a file of the handled message, and verifies its hash.
    ///
    /// Throws `BotError.Code.noMessage` if there is no message, otherwise the errors of
    /// `AppCore.media(chatID:messageID:index:)`.
    public func download(_ file: MediaAttachment) async throws -> [UInt8] {
        guard let message else {
            throw BotError(.noMessage, "only a message has files; use this in a message handler")
        }
        return try await readMedia(message.id, file.index)
    }
}
