#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A small file of mode 0600.
enum PrivateFile {
    static let maximumBytes = 4096

    /// Returns the content; nil if the file does not exist.
    ///
    /// Throws ``StoreError/Code/permission`` if other users may read it, or if its owner is neither this user nor root.
    static func read(_ path: String) throws(StoreError) -> [UInt8]? {
        // Non-blocking, so that a FIFO at this path is refused instead of blocking.
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
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
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                systemRead(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
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
        defer { Sodium.wipe(&bytes) }
        return Array(bytes[..<filled])
    }

    /// Creates a file, either complete on disk or not at all; returns false if it already exists.
    static func create(_ path: String, _ bytes: [UInt8]) throws(StoreError) -> Bool {
        let draft = Self.draftPath(beside: path)
        let descriptor = systemOpen(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, "cannot create", draft) }
        defer {
            close(descriptor)
            unlink(draft)
        }
        guard fchmod(descriptor, 0o600) == 0 else { throw StoreError(errno: errno, "cannot set mode 0600", draft) }
        guard bytes.withUnsafeBytes({ systemWrite(descriptor, $0) }) == bytes.count, fsync(descriptor) == 0 else {
            throw StoreError(errno: errno, "cannot write", draft)
        }
        // A link, unlike a rename, never replaces a file that another process created meanwhile.
        if link(draft, path) != 0 {
            if errno == EEXIST { return false }
            throw StoreError(errno: errno, "cannot create", path)
        }
        try Self.synchronizeDirectory(of: path)
        return true
    }

    // MARK: Drafts

    /// Returns a new path in the same directory. It is random, so that no other user can place a link there, and so
    /// that the draft of a crashed process does not collide: in a container every process may have the same id.
    static func draftPath(beside path: String) -> String {
        "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).new"
    }

    /// Creates a directory of mode 0700 and a random name beside `path`; the caller removes it.
    static func makeFolder(beside path: String) throws(StoreError) -> String {
        var template = Array("\(path).XXXXXX".utf8CString)
        let isMade = template.withUnsafeMutableBufferPointer { name in name.baseAddress.flatMap { mkdtemp($0) } != nil }
        guard isMade else { throw StoreError(errno: errno, "cannot create a temporary folder beside it", path) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Larger files

    /// Opens a file that only this user may access; the caller closes it.
    static func open(_ path: String, _ flags: Int32) throws(StoreError) -> Int32 {
        let descriptor = systemOpen(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, "cannot open", path) }
        guard flags & O_CREAT == 0 || fchmod(descriptor, 0o600) == 0 else {
            close(descriptor)
            throw StoreError(errno: errno, "cannot set mode 0600", path)
        }
        return descriptor
    }

    /// Reads the next bytes; returns fewer than `count` only at the end of the file.
    static func read(upTo count: Int, from descriptor: Int32, _ path: String) throws(StoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let step = bytes.withUnsafeMutableBytes { buffer in
                systemRead(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled)
            }
            if step == 0 { break }
            if step > 0 {
                filled += step
            } else if errno != EINTR {
                throw StoreError(errno: errno, "cannot read", path)
            }
        }
        return Array(bytes.prefix(filled))
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(StoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let step = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if step > 0 {
                rest = rest.dropFirst(step)
            } else if step == 0 || errno != EINTR {
                throw StoreError(errno: errno, "cannot write", path)
            }
        }
    }

    /// Makes the content of a file durable.
    static func synchronize(_ path: String) throws(StoreError) {
        let descriptor = try Self.open(path, O_RDONLY)
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreError(errno: errno, "cannot write", path) }
    }

    /// Makes the directory entry of a new file durable.
    static func synchronizeDirectory(of path: String) throws(StoreError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = systemOpen(folder, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw StoreError(errno: errno, "cannot open the directory", folder) }
        defer { close(descriptor) }
        // Some file systems do not support this for a directory, and return EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw StoreError(errno: errno, "cannot sync the directory", folder)
        }
    }
}

/// System calls under other names, because the functions above shadow them.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    guard let buffer else { return 0 }
    return read(descriptor, buffer, count)
}
