import Foundation
import ProcessSupport

/// A line-based connection to a Unix socket, with blocking calls.
package final class LineSocket {
    /// Seconds without data after which the peer counts as dead. Commands that wait for servers and relays take up to
    /// 145 seconds, and wait for the command before them.
    private static let patience = 300
    private static let maximumLine = 64 << 20

    private let path: String
    private let descriptor: Int32
    private var assembler = LineAssembler(limit: LineSocket.maximumLine)
    private var pending: [LineAssembler.Piece] = []

    /// Connects; nil when nothing listens at `path`.
    package init?(path: String) throws {
        self.path = path
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_UNIX, stream, 0)
        guard descriptor >= 0 else { throw Self.failure(path) }
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = try Self.address(path)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            guard errno == ENOENT || errno == ECONNREFUSED else { throw Self.failure(path) }
            return nil
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func write(_ line: String) throws {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Self.failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns the next line without its line feed; nil when the peer has closed the connection.
    package func readLine() throws -> [UInt8]? {
        while true {
            if !pending.isEmpty {
                guard case .line(let line) = pending.removeFirst() else {
                    throw CommandError("\(path): the answer is too long")
                }
                return line
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return nil }
            guard count > 0 else {
                guard errno == EAGAIN else { throw Self.failure(path) }
                throw CommandError("\(path): no answer within \(Self.patience) s")
            }
            assembler.append(buffer.prefix(count)) { pending.append($0) }
        }
    }

    private static func address(_ path: String) throws -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw CommandError("\(path): too long for a socket path")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    private static func failure(_ path: String) -> CommandError {
        CommandError("\(path): \(String(cString: strerror(errno)))")
    }
}
