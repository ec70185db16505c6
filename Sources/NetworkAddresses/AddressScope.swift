/// The scope of an IP address: public, or of this machine or a local network.
///
/// Follows IANA's special-purpose address registries (RFC 6890 and its successors). An IPv6 address that embeds an IPv4
/// address (mapped, NAT64, 6to4, Teredo) is classified by the embedded one, or as not public.
package enum AddressScope: Hashable, Sendable {
    case global
    case local

    /// Classifies an address of 4 or 16 bytes in network order; any other length is local.
    package init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        switch bytes.count {
        case 4: self = Self.isPublicIPv4(bytes) ? .global : .local
        case 16: self = Self.isPublicIPv6(bytes) ? .global : .local
        default: self = .local
        }
    }

    /// A network: its prefix and the prefix length in bits.
    private typealias Network = (prefix: [UInt8], bits: Int)

    private static let localIPv4: [Network] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 31, 196], 24), ([192, 52, 193], 24), ([192, 88, 99], 24), ([192, 168], 16),
        ([192, 175, 48], 24), ([198, 18], 15), ([198, 51, 100], 24), ([203, 0, 113], 24), ([224], 3),
    ]

    private static func isPublicIPv4(_ bytes: [UInt8]) -> Bool {
        !localIPv4.contains { contains($0, bytes) }
    }

    /// Only 2000::/3 is allocated as global unicast; these parts of it are not public.
    private static let localIPv6: [Network] = [
        ([0x20, 0x01, 0x00, 0x00], 23), ([0x20, 0x01, 0x0d, 0xb8], 32), ([0x20, 0x02], 16),
        ([0x26, 0x20, 0x00, 0x4f, 0x80, 0x00], 48), ([0x3f, 0xff, 0x00], 20),
    ]
    private static let globalIPv6: Network = ([0x20], 3)
    /// 64:ff9b::/96 (RFC 6052), and ::ffff:0:0/96: the last four bytes are an IPv4 address.
    private static let embedding: [Network] = [
        ([0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96), ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96),
    ]

    private static func isPublicIPv6(_ bytes: [UInt8]) -> Bool {
        if embedding.contains(where: { contains($0, bytes) }) { return isPublicIPv4(Array(bytes.suffix(4))) }
        return contains(globalIPv6, bytes) && !localIPv6.contains { contains($0, bytes) }
    }

    private static func contains(_ network: Network, _ bytes: [UInt8]) -> Bool {
        for index in 0..<network.bits {
            let (byte, bit) = (index / 8, UInt8(0x80) >> UInt8(index % 8))
            guard byte < bytes.count, byte < network.prefix.count, bytes[byte] & bit == network.prefix[byte] & bit
            else { return false }
        }
        return true
    }
}
