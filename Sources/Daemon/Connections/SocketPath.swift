import Foundation

/// Making a daemon's socket, and taking it away.
enum SocketPath {
    /// Takes a socket away; anything else that stands there stays.
    static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        unlink(path)
    }

    /// A socket that listens there, mode 0600 from its first moment. What an earlier daemon left is taken away.
    static func bind(_ path: String) throws(DaemonError) -> Int32 {
        self.remove(path)
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw self.failure(path) }
        // On Linux the mode before binding is the file's; elsewhere the one after counts.
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fchmod(descriptor, 0o600) == 0,
            self.bind(descriptor, to: path), chmod(path, 0o600) == 0, listen(descriptor, 64) == 0
        else {
            let failure = self.failure(path)
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    private static func bind(_ descriptor: Int32, to path: String) -> Bool {
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
            return false
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static func failure(_ path: String) -> DaemonError {
        DaemonError(.noSocket, "\(path): \(String(cString: strerror(errno)))")
    }
}
