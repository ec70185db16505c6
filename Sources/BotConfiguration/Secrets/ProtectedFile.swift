import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A small private file, opened once, so that permissions are checked on the file that is read.
package enum ProtectedFile {
    package static let maximumBytes = 4096

    /// - Parameter isPrivate: Requires mode 0600 or stricter, and this process's user or root as owner.
    package static func read(_ path: String, isPrivate: Bool) throws(KeyLoadingError) -> [UInt8] {
        // Non-blocking, so that a FIFO is rejected instead of blocking.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw KeyLoadingError(.unreadable, "\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeyLoadingError(.unreadable, "\(path): not a regular file")
        }
        if isPrivate { try checkPrivate(path, mode: UInt32(status.st_mode & 0o7777), owner: status.st_uid) }
        return try contents(of: descriptor, path)
    }

    static func checkPrivate(_ path: String, mode: UInt32, owner: UInt32) throws(KeyLoadingError) {
        guard mode & 0o077 == 0 else {
            let octal = String(mode, radix: 8)
            let padded = String(repeating: "0", count: max(0, 4 - octal.count)) + octal
            throw KeyLoadingError(
                .permissions, "\(path): mode is \(padded), so others can read it; run: chmod 600 \(path)")
        }
        guard owner == geteuid() || owner == 0 else {
            throw KeyLoadingError(
                .permissions,
                "\(path): belongs to user \(owner), not to user \(geteuid()) who runs this; run: chown \(geteuid()) \(path)"
            )
        }
    }

    /// Reads from a descriptor without blocking, up to the limit; more is an error.
    static func contents(of descriptor: Int32, _ source: String) throws(KeyLoadingError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: maximumBytes)
        while bytes.count <= maximumBytes {
            let count = systemRead(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                throw KeyLoadingError(.unreadable, "\(source): \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        guard bytes.count <= maximumBytes else {
            throw KeyLoadingError(
                .malformed, "\(source): longer than \(maximumBytes) bytes, the limit for secrets")
        }
        return bytes
    }
}

extension KeyLoadingError: SystemCallError {
    package init(errno number: Int32, _ doing: String, _ path: String) {
        self.init(.unreadable, "\(path): \(String(cString: strerror(number)))")
    }
}

/// Calls `read(2)`, which the method above would shadow.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
