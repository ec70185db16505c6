package import Nostr

/// The host's place for downloaded files (``AppAction/downloadChatMedia(chatID:messageID:index:)``). The core keeps no
/// files, and their contents are in no snapshot.
package protocol MediaCache: Sendable {
    /// Keeps a decrypted file, replacing an earlier one of the same name.
    ///
    /// - Returns: the file's location, in the host's notation.
    func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String
}

/// Identifies a file of a message.
package struct MediaFile: Sendable, Hashable {
    package let chatID: String
    package let messageID: EventID
    /// The file's position among the files of the message, from 0.
    package let index: Int

    package init(chatID: String, messageID: EventID, index: Int) {
        self.chatID = chatID
        self.messageID = messageID
        self.index = index
    }
}

/// For hosts without a cache: every download fails with ``AppCoreError/Code/notAllowed``.
package struct NoMediaCache: MediaCache {
    package init() {}

    package func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String {
        throw AppCoreError(.notAllowed, "this account has no media cache")
    }
}
