import Crypto

extension Bytes32 {
    static func sha256(_ bytes: [UInt8]) -> Bytes32 {
        let digest = SHA256.hash(data: bytes)
        return Bytes32 { output in digest.withUnsafeBytes { output.copyMemory(from: $0) } }
    }
}
