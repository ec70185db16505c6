#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A file with a key: small, and readable for this user alone.
enum KeyFile {
    static let maximumBytes = 4096

    /// Returns the content; nil if the file does not exist.
    ///
    /// Throws `StoreError.Code.permission` if other users may read it, or if its owner is neither this user nor root.
    static func contents(_ path: String) throws(StoreError) -> [UInt8]? {
        // Non-blocking, so that a FIFO at this path is refused instead of blocking.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw StoreError(errno: errno, "cannot open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.io, "\(path): not a regular file")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw StoreError(.permission, "\(path): readable by other users; run: chmod 600 \(path)")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw StoreError(.permission, "\(path): belongs to user \(status.st_uid); run: chown \(geteuid()) \(path)")
        }
        return try Self.contents(of: descriptor, path)
    }

    private static func contents(of descriptor: Int32, _ path: String) throws(StoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes + 1)
        defer { Sodium.wipe(&bytes) }
        var filled = 0
        while filled < bytes.count {
            let rest = bytes.count - filled
            let count = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { read(descriptor, $0.advanced(by: filled), rest) } ?? 0
            }
            if count == 0 { break }
            if count > 0 {
                filled += count
            } else if errno != EINTR {
                throw StoreError(errno: errno, "cannot read", path)
            }
        }
        guard filled <= Self.maximumBytes else {
            throw StoreError(.invalidKey, "\(path): expected at most \(Self.maximumBytes) bytes")
        }
        return Array(bytes[..<filled])
    }
}
