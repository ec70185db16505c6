import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An address of a host, as text without brackets, and its scope.
package struct HostAddress: Hashable, Sendable {
    package var text: String
    package var scope: AddressScope

    package init(text: String, scope: AddressScope) {
        self.text = text
        self.scope = scope
    }
}

/// Resolves host names by the system's resolver.
package enum HostAddresses {
    /// Returns the addresses without duplicates in the system's order of preference; empty if the name is unknown.
    /// Returns early when the task is cancelled, and drops the resolver's answer, which may take long.
    package static func of(_ host: String) async -> [HostAddress] {
        let (answers, answer) = AsyncStream.makeStream(of: [HostAddress].self)
        NIOThreadPool.singleton.submit { state in
            answer.yield(state == .active ? lookUp(host) : [])
            answer.finish()
        }
        for await addresses in answers { return addresses }
        return []
    }

    /// Resolves a host name. Blocks.
    package static func lookUp(_ host: String) -> [HostAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_flags = AI_ADDRCONFIG
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [HostAddress] = []
        var next = first
        while let entry = next {
            if let address = address(of: entry.pointee), !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    private static func address(of entry: addrinfo) -> HostAddress? {
        guard let address = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET where entry.ai_addrlen >= MemoryLayout<sockaddr_in>.size:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                text(of: $0.pointee.sin_addr, family: AF_INET, length: INET_ADDRSTRLEN)
            }
        case AF_INET6 where entry.ai_addrlen >= MemoryLayout<sockaddr_in6>.size:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                text(of: $0.pointee.sin6_addr, family: AF_INET6, length: INET6_ADDRSTRLEN)
            }
        default: return nil
        }
    }

    private static func text<Address>(of address: Address, family: Int32, length: Int32) -> HostAddress? {
        withUnsafeBytes(of: address) { bytes in
            var buffer = [CChar](repeating: 0, count: Int(length))
            guard let base = bytes.baseAddress, inet_ntop(family, base, &buffer, socklen_t(length)) != nil else {
                return nil
            }
            let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return HostAddress(text: text, scope: AddressScope(bytes))
        }
    }
}
