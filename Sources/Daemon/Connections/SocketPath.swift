import Foundation

/// Creates and removes a daemon's socket.
enum SocketPath {
    /// Removes a socket on which nobody listens; a live one and any other file stay.
    ///
    /// - Returns: false for a live socket, or one that cannot be asked.
    @discardableResult
    static func removeUnlessLive(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return true }
        let descriptor = socket(AF_UNIX, self.kind, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Without waiting: a live daemon with a full backlog answers EAGAIN.
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, self.with(path, { connect(descriptor, $0, $1) }) != 0,
            errno == ECONNREFUSED
        else { return false }
        unlink(path)
        return true
    }

    /// Removes a socket of this process, which may still listen.
    static func remove(_ path: String) { unlink(path) }

    #if canImport(Glibc)
        private static let kind = Int32(SOCK_STREAM.rawValue)
    #else
        private static let kind = SOCK_STREAM
    #endif

    /// A socket that listens there, mode 0600 from its first moment. One that an earlier daemon left is replaced.
    static func bind(_ path: String) throws(DaemonError) -> Int32 {
        guard self.removeUnlessLive(path) else {
            throw DaemonError(.noSocket, "\(path): another process listens there; end it first")
        }
        let descriptor = socket(AF_UNIX, self.kind, 0)
        guard descriptor >= 0 else { throw self.failure(path) }
        // On Linux the mode before binding is the file's; elsewhere the one after counts.
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fchmod(descriptor, 0o600) == 0,
            self.with(path, { Foundation.bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0,
            listen(descriptor, 64) == 0
        else {
            let failure = self.failure(path)
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// -1 with `errno` for a path that is too long for a socket, or what `body` returns.
    private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8) + [0]
        let hasRoom = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count <= room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard hasRoom else {
            errno = ENAMETOOLONG
            return -1
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func failure(_ path: String) -> DaemonError {
        DaemonError(.noSocket, "\(path): \(String(cString: strerror(errno)))")
    }
}
