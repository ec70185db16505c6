public import Nostr

/// Where the host keeps files that were downloaded (``AppAction/downloadChatMedia(chatID:messageID:index:)``): the core
/// has none, and what is in them is in no state.
public protocol MediaCache: Sendable {
    /// Keeps a decrypted file, in the place of an earlier one of the same name; returns where, in the host's words.
    func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String
}

/// Names a file of a message.
public struct MediaFile: Sendable, Hashable {
    public let chatID: String
    public let messageID: EventID
    /// Its place among the files of the message, from 0.
    public let index: Int

    public init(chatID: String, messageID: EventID, index: Int) {
        self.chatID = chatID
        self.messageID = messageID
        self.index = index
    }
}

/// For hosts without a place for files: every download ends with ``AppCoreError/Code/notAllowed``.
public struct NoMediaCache: MediaCache {
    public init() {}

    public func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String {
        throw AppCoreError(.notAllowed, "this account was set up without a place for files")
    }
}
