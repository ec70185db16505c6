package import PikaCore
import Synchronization

/// The downloaded files of a lab's member.
package final class LabMediaCache: MediaCache {
    private let files = Mutex<[MediaFile: [UInt8]]>([:])

    /// Creates an empty cache.
    package init() {}

    /// Keeps a file in memory, replacing an earlier one, and returns `lab:` with the message's id and the index.
    package func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String {
        self.files.withLock { $0[file] = bytes }
        return "lab:\(file.messageID)/\(file.index)"
    }

    package func read(_ file: MediaFile) async -> [UInt8]? { self.bytes(of: file) }

    /// Returns the kept content of a file; nil if absent.
    package func bytes(of file: MediaFile) -> [UInt8]? { self.files.withLock { $0[file] } }
}
