import Foundation

/// Client of a service manager's notification socket: systemd's sd_notify(3) protocol, datagrams on a Unix socket.
package struct NotifySocket: Sendable, Hashable {
    /// Maximum interval between two `WATCHDOG=1`; nil if this process need not send any.
    package let watchdog: Duration?
    private let name: [UInt8]

    /// Returns nil when `$NOTIFY_SOCKET` is not set. Throws `SupervisorError.Code.invalidConfiguration` for an
    /// invalid one.
    ///
    /// - Parameter process: this process's id; `$WATCHDOG_USEC` is ignored if `$WATCHDOG_PID` names another one.
    package init?(environment: [String: String], process: Int32) throws(SupervisorError) {
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return nil }
        // A leading @ stands for the zero byte of an abstract name.
        guard path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1 else {
            throw SupervisorError(.invalidConfiguration, "NOTIFY_SOCKET: expected a path or an abstract name")
        }
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw SupervisorError(.invalidConfiguration, "NOTIFY_SOCKET: too long for a socket address")
        }
        name = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
        let isOurs = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        watchdog = isOurs ? limit.map { .microseconds($0) } : nil
    }

    /// Sends one datagram without blocking; returns false if it could not be sent.
    @discardableResult
    package func send(_ text: String) -> Bool {
        #if canImport(Glibc)
            let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        #else
            let kind = SOCK_DGRAM
            let flags = MSG_DONTWAIT
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // An abstract name ends with the address.
        let length = MemoryLayout<sa_family_t>.size + name.count + (name.first == 0 ? 0 : 1)
        let bytes = Array(text.utf8)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, flags, $0, socklen_t(length)) == bytes.count
            }
        }
    }
}
