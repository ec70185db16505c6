import Foundation

/// Creates and removes a daemon's socket.
enum SocketPath {
    /// Removes a stale socket, one without a listener. Leaves a live socket and any other file alone.
    ///
    /// - Returns: false for a live socket, or one that could not be probed.
    @discardableResult
    static func removeUnlessLive(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return true }
        let descriptor = socket(AF_UNIX, self.kind, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Non-blocking: a live daemon with a full backlog answers EAGAIN.
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, self.with(path, { connect(descriptor, $0, $1) }) != 0,
            errno == ECONNREFUSED
        else { return false }
        unlink(path)
        return true
    }

    /// Removes this process's own socket, which may still have a listener.
    static func remove(_ path: String) { unlink(path) }

    #if canImport(Glibc)
        private static let kind = Int32(SOCK_STREAM.rawValue)
    #else
        private static let kind = SOCK_STREAM
    #endif

    /// Returns a listening socket with mode 0600 from the start. Replaces an earlier daemon's stale socket.
    static func bind(_ path: String) throws(DaemonError) -> Int32 {
        guard self.removeUnlessLive(path) else {
            throw DaemonError(.noSocket, "\(path): another process is listening; stop it first")
        }
        let descriptor = socket(AF_UNIX, self.kind, 0)
        guard descriptor >= 0 else { throw self.failure(path) }
        // On Linux the file inherits the socket's mode from before `bind`; elsewhere the mode set afterwards counts.
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

    /// Calls `body` with the socket address; returns its result, or -1 with `errno` if the path is too long for a
    /// socket.
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
