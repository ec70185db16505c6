import Foundation
import Logging
import Nostr
import PikaCore

/// Downloaded files of message attachments. Attachments with equal bytes and names share a file.
struct AttachmentFiles: Sendable {
    let core: any DaemonCore
    let clock: any CoreClock
    let logger: Logger
    /// Directory for the files; nil disables downloads.
    let directory: String?
    /// Milliseconds that a message waits for its attachments.
    let patience: Int64

    /// Returns a message's attachments, each with its local path if the download finished in time.
    ///
    /// All files of a message share one deadline, because the sender chooses their servers and later messages wait for
    /// them.
    func attachments(of message: MessageEvent, in chatID: ChatID) async -> [DaemonMessage.Attachment] {
        let end = self.clock.nowMilliseconds + self.patience
        var attachments: [DaemonMessage.Attachment] = []
        for file in message.media {
            let path = await self.download(file, of: message.id, in: chatID, until: end)
            attachments.append(DaemonMessage.Attachment(file: file, localPath: path))
        }
        return attachments
    }

    /// Downloads an attachment and returns its path; nil if it is unavailable.
    private func download(
        _ file: MediaAttachment, of messageID: EventID, in chatID: ChatID, until end: Int64
    ) async -> String? {
        guard let path = self.localPath(of: file) else { return nil }
        if FileManager.default.fileExists(atPath: path) { return path }
        do {
            let bytes = try await self.fetch(file, of: messageID, in: chatID, until: end)
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
            return path
        } catch {
            self.logger.warning("a file could not be downloaded", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    private func fetch(
        _ file: MediaAttachment, of messageID: EventID, in chatID: ChatID, until end: Int64
    ) async throws -> [UInt8] {
        guard self.clock.nowMilliseconds < end else { throw DownloadTimeout() }
        return try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { try await self.core.media(chatID: chatID, messageID: messageID, index: file.index) }
            group.addTask {
                try await self.clock.sleep(untilMilliseconds: end)
                throw DownloadTimeout()
            }
            defer { group.cancelAll() }
            guard let bytes = try await group.next() else { throw DownloadTimeout() }
            return bytes
        }
    }

    private func localPath(of file: MediaAttachment) -> String? {
        guard let directory = self.directory else { return nil }
        let name = file.filename.allSatisfy { $0 == "." } ? "file" : file.filename
        return "\(directory)/\(file.hash.hex)/\(name)"
    }

    func pathIfDownloaded(_ file: MediaAttachment) -> String? {
        self.localPath(of: file).flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }
}

private struct DownloadTimeout: Error, CustomStringConvertible {
    let description = "the message's files exceeded their deadline"
}
