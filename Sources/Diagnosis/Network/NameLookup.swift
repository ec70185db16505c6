import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Resolves host names by the system's resolver.
enum NameLookup {
    /// Maximum number of addresses of a host that are examined.
    static let maximumAddresses = 8

    /// Returns a host's addresses without duplicates, in the resolver's order. Throws ``NetworkError``, even on a
    /// timeout; the resolver's later answer is dropped.
    static func addresses(
        of host: String, port: Int, within limit: Duration = .seconds(30)
    ) async throws -> [SocketAddress] {
        typealias Answer = Result<[SocketAddress], NetworkError>
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        NIOSingletons.posixBlockingThreadPool.submit { state in
            guard state == .active else { return answer.finish() }
            answer.yield(Result { () throws(NetworkError) in try resolve(host, port) })
        }
        return try await withTimeout(limit, late: NetworkError("the resolver timed out")) {
            for await found in answers { return try found.get() }
            throw NetworkError("the lookup was cancelled")
        }
    }

    private static func resolve(_ host: String, _ port: Int) throws(NetworkError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = numericCast(streamSocket)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else { throw NetworkError(String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee, found.count < maximumAddresses {
            if let address = address(entry), !found.contains(address) { found.append(address) }
            next = entry.ai_next
        }
        guard !found.isEmpty else { throw NetworkError("the name has no address") }
        return found
    }

    private static func address(_ entry: addrinfo) -> SocketAddress? {
        guard let raw = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
        case AF_INET6:
            return raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
        default: return nil
        }
    }

    #if canImport(Glibc)
        private static let streamSocket = SOCK_STREAM.rawValue
    #else
        private static let streamSocket = SOCK_STREAM
    #endif
}
