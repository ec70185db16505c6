package import Nostr

/// The host's place for downloaded files (``AppAction/downloadChatMedia(chatID:messageID:index:)`` and
/// ``AppCore/media(chatID:messageID:index:)``). The core keeps no files, and their contents are in no snapshot.
package protocol MediaCache: Sendable {
    /// Keeps a decrypted file, replacing an earlier one of the same name.
    ///
    /// - Returns: the file's location, in the host's notation.
    func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String

    /// Returns the content of a kept file; nil if it was never kept, or no longer is.
    func read(_ file: MediaFile) async -> [UInt8]?
}

/// Identifies a file of a message.
package struct MediaFile: Sendable, Hashable {
    package let chatID: ChatID
    package let messageID: EventID
    /// The file's position among the files of the message, from 0.
    package let index: Int

    package init(chatID: ChatID, messageID: EventID, index: Int) {
        self.chatID = chatID
        self.messageID = messageID
        self.index = index
    }
}

/// The bounds of a cache on disk; at a bound, the least recently used files are evicted.
package struct MediaCacheLimits: Sendable, Hashable {
    /// Bytes of all files together, as stored.
    package var bytes: Int
    package var files: Int

    package init(bytes: Int, files: Int = 10_000) {
        self.bytes = bytes
        self.files = files
    }

    /// 100 MiB and 10,000 files.
    package static let standard = MediaCacheLimits(bytes: 100 << 20)
}

/// For hosts without a cache: downloads into it fail with `AppCoreError.Code.notAllowed`, and files are read from
/// media servers every time.
package struct NoMediaCache: MediaCache {
    package init() {}

    package func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String {
        throw AppCoreError(.notAllowed, "this account has no media cache")
    }

    package func read(_ file: MediaFile) async -> [UInt8]? { nil }
}
