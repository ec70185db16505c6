import NIOCore

/// Network address of a client, at the granularity of the limits.
struct ClientAddress: Hashable, Sendable {
    /// IPv4: the address. IPv6: its first 64 bits, because a single host usually gets that much. Otherwise empty.
    private let bytes: [UInt8]
    let isLoopback: Bool

    init(_ address: SocketAddress?) {
        switch address {
        case .v4(let address):
            // `sin_addr` follows family and port, on every system.
            self.init(v4: withUnsafeBytes(of: address.address) { Array($0[4..<8]) })
        case .v6(let address):
            // `sin6_addr` follows family, port and flow label.
            let whole = withUnsafeBytes(of: address.address) { Array($0[8..<24]) }
            // ::ffff:a.b.c.d, as an IPv6 socket shows IPv4 clients.
            if whole.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) {
                self.init(v4: Array(whole.dropFirst(12)))
            } else {
                let isLoopback = whole.dropLast().allSatisfy { $0 == 0 } && whole.last == 1
                self.init(bytes: Array(whole.prefix(8)), isLoopback: isLoopback)
            }
        case .unixDomainSocket: self.init(bytes: [], isLoopback: true)
        // The connection has ended already.
        case nil: self.init(bytes: [], isLoopback: false)
        }
    }

    private init(v4 bytes: [UInt8]) {
        self.init(bytes: bytes, isLoopback: bytes.first == 127)
    }

    private init(bytes: [UInt8], isLoopback: Bool) {
        self.bytes = bytes
        self.isLoopback = isLoopback
    }
}
