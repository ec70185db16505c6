import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension StateBackup {
    private static let pieceLength = 1 << 18

    /// Writes header and database into `draft`, makes it durable, and renames it to `file`.
    static func pack(_ copy: String, into draft: String, _ file: String) throws(StoreError) -> Int {
        let source = try StoreFile.open(copy, O_RDONLY)
        defer { close(source) }
        let target = try StoreFile.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        defer { close(target) }
        // Reserves the space of the header, which is known only at the end.
        try StoreFile.write([UInt8](repeating: 0, count: BackupHeader.count), to: target, draft)
        var digest = BackupDigest()
        var length = 0
        while true {
            let piece = try StoreFile.read(upTo: Self.pieceLength, from: source, copy)
            if piece.isEmpty { break }
            digest.append(piece)
            length += piece.count
            try StoreFile.write(piece, to: target, draft)
        }
        guard lseek(target, 0, SEEK_SET) == 0 else { throw StoreError(errno: errno, "cannot write", draft) }
        try StoreFile.write(
            BackupHeader(length: UInt64(length), digest: digest.finish()).bytes, to: target, draft)
        guard fsync(target) == 0 else { throw StoreError(errno: errno, "cannot write", draft) }
        guard rename(draft, file) == 0 else { throw StoreError(errno: errno, "cannot rename", file) }
        try StoreFile.synchronizeDirectory(of: file)
        return BackupHeader.count + length
    }

    /// Reads a whole backup; throws `StoreError.Code.badBackup` unless it is complete and intact.
    static func check(_ file: String) throws(StoreError) {
        try Self.read(file) { _ throws(StoreError) in }
    }

    /// Writes the database of a backup into a new file.
    static func unpack(_ file: String, into draft: String) throws(StoreError) {
        let target = try StoreFile.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        defer { close(target) }
        try Self.read(file) { piece throws(StoreError) in try StoreFile.write(piece, to: target, draft) }
        guard fsync(target) == 0 else { throw StoreError(errno: errno, "cannot write", draft) }
    }

    private static func read(
        _ file: String, _ handle: ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) {
        // Non-blocking, so that a FIFO at this path is refused instead of blocking.
        let source = try StoreFile.open(file, O_RDONLY | O_NONBLOCK)
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.badBackup, "\(file): not a regular file")
        }
        let header: BackupHeader
        do { header = try BackupHeader(try StoreFile.read(upTo: BackupHeader.count, from: source, file)) } catch {
            throw StoreError(error.code, "\(file): \(error.message)", cause: error.cause)
        }
        var digest = BackupDigest()
        var length: UInt64 = 0
        while true {
            let piece = try StoreFile.read(upTo: Self.pieceLength, from: source, file)
            if piece.isEmpty { break }
            digest.append(piece)
            length += UInt64(piece.count)
            // Bytes appended to a backup are not copied.
            guard length <= header.length else { throw Self.damaged(file) }
            try handle(piece)
        }
        guard length == header.length, digest.finish() == header.digest else { throw Self.damaged(file) }
    }
}
