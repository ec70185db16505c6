import Foundation

/// Creates and removes the control socket.
enum ControlSocket {
    /// Returns a listening socket with mode 0600 from the start. Replaces a stale socket.
    static func bind(_ path: String) throws(SupervisorError) -> Int32 {
        var address = try address(path)
        try clear(path, &address)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw failure(path) }
        // On Linux the file inherits the socket's mode from before `bind`; elsewhere the mode set afterwards counts.
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fchmod(descriptor, 0o600) == 0,
            with(&address, { Foundation.bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0,
            listen(descriptor, 16) == 0
        else {
            let failure = failure(path)
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// Removes a stale socket, one without a listener. Leaves a live socket and any other file alone.
    static func removeUnlessLive(_ path: String) {
        guard var address = try? address(path) else { return }
        try? clear(path, &address)
    }

    private static func clear(_ path: String, _ address: inout sockaddr_un) throws(SupervisorError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SupervisorError(
                .noControlSocket, "\(path): exists and is not a socket; remove it, or set supervisor.control")
        }
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        // Non-blocking: a live supervisor with a full backlog answers EAGAIN. Only a refused connection proves a stale
        // socket.
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, with(&address, { connect(descriptor, $0, $1) }) != 0,
            errno == ECONNREFUSED
        else {
            throw SupervisorError(
                .noControlSocket, "\(path): another supervisor listens on it; stop that one, or set supervisor.control")
        }
        unlink(path)
    }

    private static func address(_ path: String) throws(SupervisorError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard bytes.count <= room else {
            throw SupervisorError(
                .noControlSocket,
                "\(path): expected at most \(room) bytes for a socket path, found \(bytes.count); set supervisor.control to a shorter path"
            )
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    private static func with(
        _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    #if canImport(Glibc)
        private static let kind = Int32(SOCK_STREAM.rawValue)
    #else
        private static let kind = SOCK_STREAM
    #endif

    private static func failure(_ path: String) -> SupervisorError {
        SupervisorError(.noControlSocket, "\(path): \(String(cString: strerror(errno)))")
    }
}
