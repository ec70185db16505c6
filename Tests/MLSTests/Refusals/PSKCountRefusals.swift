import Testing

@testable import MLS

/// The count of a PSKLabel has 16 bits (RFC 9420 §8.4).
struct PSKCountRefusals {
    @Test func s8_4_refusesMoreThan65535PSKs() throws {
        let id = PreSharedKeyID(key: .external(id: [1]), nonce: [2])
        let keys = [PreSharedKey](repeating: PreSharedKey(id: id, secret: .empty), count: 65_536)
        let suite = CipherSuite.x25519AES128GCM
        let error = #expect(throws: MLSError.self) { try suite.pskSecret(keys) }
        #expect(error?.code == .unknownPSK)
    }
}
