public import PikaCore
import Synchronization

/// Where a member of a lab keeps the files that it downloads.
public final class LabMediaCache: MediaCache {
    private let files = Mutex<[MediaFile: [UInt8]]>([:])

    public init() {}

    public func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String {
        self.files.withLock { $0[file] = bytes }
        return "lab:\(file.messageID)/\(file.index)"
    }

    /// What is kept of a file; nil if nothing is.
    public func bytes(of file: MediaFile) -> [UInt8]? { self.files.withLock { $0[file] } }
}
