extension BotContext {
    /// Sends files, with a caption, into the chat of the event or another one.
    ///
    /// They are encrypted, uploaded and then referred to by a message, some time after the handler has returned; how
    /// that ends shows in later snapshots and in the log only. Files go out as they are: a photograph still tells
    /// where and with what it was made.
    public func send(media files: [OutgoingFile], caption: String = "", to chatID: String? = nil) {
        guard let chatID = chat(chatID) else { return }
        dispatch(.sendMedia(chatID: chatID, OutgoingMedia(files: files, caption: caption)))
    }

    /// Downloads and decrypts a file of the handled message; its hash is checked.
    ///
    /// Throws ``BotError/Code/noMessage`` if there is no message, otherwise the errors of
    /// ``AppCore/media(chatID:messageID:index:)``.
    public func download(_ file: MediaAttachment) async throws -> [UInt8] {
        guard let message else {
            throw BotError(.noMessage, "only a message has files; use this in a message handler")
        }
        return try await readMedia(message.id, file.index)
    }
}
