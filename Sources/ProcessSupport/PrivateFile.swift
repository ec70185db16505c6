#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An error that can describe a failed system call on a file.
package protocol SystemCallError: Error {
    /// - Parameters:
    ///   - number: the call's `errno`.
    ///   - doing: what could not be done, such as `cannot open`.
    init(errno number: Int32, _ doing: String, _ path: String)
}

/// Files of mode 0600: whole small ones, and the steps of larger ones. Failures are errors of the caller's type.
package enum PrivateFile<Failure: SystemCallError> {
    /// Creates a file, either complete on disk or not at all; returns false if it already exists.
    package static func create(_ path: String, _ bytes: [UInt8]) throws(Failure) -> Bool {
        let draft = Self.draftPath(beside: path)
        try Self.writeDraft(draft, bytes, reportedAs: draft)
        defer { unlink(draft) }
        // A link, unlike a rename, never replaces a file that another process created meanwhile.
        if link(draft, path) != 0 {
            if errno == EEXIST { return false }
            throw Failure(errno: errno, "cannot create", path)
        }
        try Self.synchronizeDirectory(of: path)
        return true
    }

    /// Atomically writes or replaces a file. It is on disk when this returns.
    ///
    /// - Parameter createsDirectories: creates missing directories above it, with mode 0700.
    package static func replace(
        _ path: String, _ bytes: [UInt8], createsDirectories: Bool = false
    ) throws(Failure) {
        if createsDirectories { try Self.createDirectories(Self.directory(of: path)) }
        let draft = Self.draftPath(beside: path)
        try Self.writeDraft(draft, bytes, reportedAs: path)
        guard rename(draft, path) == 0 else {
            let reason = errno
            unlink(draft)
            throw Failure(errno: reason, "cannot replace", path)
        }
        try Self.synchronizeDirectory(of: path)
    }

    /// Renames a file in its directory, and replaces a file of the new name. The change is on disk when this returns.
    package static func move(_ path: String, to newPath: String) throws(Failure) {
        guard rename(path, newPath) == 0 else { throw Failure(errno: errno, "cannot rename", path) }
        try Self.synchronizeDirectory(of: newPath)
    }

    /// Writes a new file and makes its content durable; a failure leaves no file.
    private static func writeDraft(
        _ draft: String, _ bytes: [UInt8], reportedAs path: String
    ) throws(Failure) {
        let descriptor = systemOpen(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(errno: errno, "cannot create", path) }
        var isComplete = false
        defer {
            close(descriptor)
            if !isComplete { unlink(draft) }
        }
        guard fchmod(descriptor, 0o600) == 0 else { throw Failure(errno: errno, "cannot set mode 0600", path) }
        try Self.write(bytes, to: descriptor, path)
        guard fsync(descriptor) == 0 else { throw Failure(errno: errno, "cannot write", path) }
        isComplete = true
    }

    // MARK: Drafts

    /// Returns a new path in the same directory. It is random, so that no other user can place a link there, and so
    /// that the draft of a crashed process does not collide: in a container every process may have the same id.
    package static func draftPath(beside path: String) -> String {
        "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).new"
    }

    /// Creates a directory of mode 0700 and a random name beside `path`; the caller removes it.
    package static func makeFolder(beside path: String) throws(Failure) -> String {
        var template = Array("\(path).XXXXXX".utf8CString)
        let isMade = template.withUnsafeMutableBufferPointer { name in name.baseAddress.flatMap { mkdtemp($0) } != nil }
        guard isMade else { throw Failure(errno: errno, "cannot create a temporary folder beside it", path) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Larger files

    /// Opens a file that only this user may access; the caller closes it.
    ///
    /// - Parameter doing: the description of a failure.
    package static func open(
        _ path: String, _ flags: Int32, _ doing: String = "cannot open"
    ) throws(Failure) -> Int32 {
        let descriptor = systemOpen(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(errno: errno, doing, path) }
        guard flags & O_CREAT == 0 || fchmod(descriptor, 0o600) == 0 else {
            let reason = errno
            close(descriptor)
            throw Failure(errno: reason, "cannot set mode 0600", path)
        }
        return descriptor
    }

    /// Reads the next bytes; returns fewer than `count` only at the end of the file.
    package static func read(upTo count: Int, from descriptor: Int32, _ path: String) throws(Failure) -> [UInt8] {
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
                throw Failure(errno: errno, "cannot read", path)
            }
        }
        return Array(bytes.prefix(filled))
    }

    package static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let step = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if step > 0 {
                rest = rest.dropFirst(step)
            } else if step == 0 || errno != EINTR {
                throw Failure(errno: errno, "cannot write", path)
            }
        }
    }

    /// Makes the content of a file durable.
    package static func synchronize(_ path: String) throws(Failure) {
        let descriptor = try Self.open(path, O_RDONLY)
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure(errno: errno, "cannot write", path) }
    }

    // MARK: Directories

    /// Makes the directory entry of a new file durable.
    package static func synchronizeDirectory(of path: String) throws(Failure) {
        let folder = Self.directory(of: path)
        let descriptor = systemOpen(folder, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure(errno: errno, "cannot open the directory", folder) }
        defer { close(descriptor) }
        // Some file systems do not support this for a directory, and return EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw Failure(errno: errno, "cannot sync the directory", folder)
        }
    }

    /// Creates a directory and its parents if needed, with mode 0700.
    package static func createDirectories(_ path: String) throws(Failure) {
        var partial = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            partial += "/\(part)"
            guard mkdir(partial, 0o700) != 0, errno != EEXIST else { continue }
            // Above a mount point or a home directory, mkdir may refuse before it checks whether the directory exists.
            let reason = errno
            guard access(partial, F_OK) != 0 else { continue }
            throw Failure(errno: reason, "cannot create the directory", partial)
        }
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
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
