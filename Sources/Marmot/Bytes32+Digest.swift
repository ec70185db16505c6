import MLS
package import Nostr

extension Bytes32 {
    /// Creates the SHA-256 of `bytes`.
    package init(sha256 bytes: [UInt8]) {
        guard let digest = Bytes32(SHA256Derivation.digest(bytes)) else {
            preconditionFailure("SHA-256 gives 32 bytes")
        }
        self = digest
    }
}
