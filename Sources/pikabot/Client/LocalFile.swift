import BotProgram
import Foundation
import PikaCore

/// A file of this machine, read to be sent.
struct LocalFile: Sendable {
    static let maximumBytes = 100 << 20
    private static let types = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "bmp": "image/bmp", "avif": "image/avif", "heic": "image/heic", "svg": "image/svg+xml", "mp4": "video/mp4",
        "mov": "video/quicktime", "webm": "video/webm", "mkv": "video/x-matroska", "mp3": "audio/mpeg",
        "m4a": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg", "flac": "audio/flac", "wav": "audio/wav",
        "pdf": "application/pdf", "txt": "text/plain", "md": "text/plain",
    ]

    let bytes: [UInt8]
    let filename: String
    /// The media type: as given, or else by the file name's extension.
    let mediaType: String

    /// Throws ``CommandError`` for a file that is unreadable, empty or larger than `limit` bytes.
    init(
        path: String, filename: String? = nil, mediaType: String? = nil, limit: Int = maximumBytes
    ) throws {
        let url = URL(fileURLWithPath: path)
        let size: Int
        do {
            let values = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
            guard values.isRegularFile == true else { throw CommandError("\(path): not a regular file") }
            size = values.fileSize ?? 0
        } catch let error as CommandError {
            throw error
        } catch { throw CommandError("\(path): cannot be read: \(error.localizedDescription)") }
        guard size > 0 else { throw CommandError("\(path): is empty") }
        guard size <= limit else { throw CommandError("\(path): has \(size) bytes, but at most \(limit) are allowed") }
        do { self.bytes = Array(try Data(contentsOf: url)) } catch {
            throw CommandError("\(path): cannot be read: \(error.localizedDescription)")
        }
        self.filename = filename.flatMap { $0.isEmpty ? nil : $0 } ?? url.lastPathComponent
        self.mediaType = mediaType ?? Self.types[url.pathExtension.lowercased()] ?? "application/octet-stream"
    }

    var outgoing: OutgoingFile { OutgoingFile(bytes: bytes, filename: filename, mediaType: mediaType) }
}
