import CSecp256k1

/// BIP-340 signatures over messages of any length.
enum Schnorr {
    static func isValid(_ signature: Signature, message: [UInt8], key: PublicKey) -> Bool {
        guard var point = key.point else { return false }
        return secp256k1_schnorrsig_verify(Curve.context, signature.bytes, message, message.count, &point) == 1
    }

    /// Signs a message. `auxiliary` is BIP-340's fresh randomness `a`: 32 bytes that impede side-channel attacks.
    static func sign(_ message: [UInt8], with key: KeyPair, auxiliary: Bytes32) -> Signature {
        var output = [UInt8](repeating: 0, count: Signature.count)
        let signed = auxiliary.withUnsafeBytes { random in
            var parameters = secp256k1_schnorrsig_extraparams(
                magic: (0xda, 0x6f, 0xb3, 0x8c), noncefp: nil,
                ndata: UnsafeMutableRawPointer(mutating: random.baseAddress))
            return key.withKeyPair { pair in
                secp256k1_schnorrsig_sign_custom(Curve.context, &output, message, message.count, pair, &parameters)
            }
        }
        precondition(signed == 1, "libsecp256k1 refused to sign with a checked key")
        return Signature(exactly: output)
    }
}
