import CSecp256k1

extension KeyPair {
    /// Calls `body` with the 32 bytes of ``sharedX(with:)`` and wipes them afterwards; nil if the peer's key is not on
    /// the curve. They must not be used as a key directly: derive one with a label, as NIP-44 and MIP-05 do.
    public func withSharedX<Result>(
        of peer: PublicKey, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        guard var shared = self.sharedX(with: peer) else { return nil }
        defer { Sodium.wipe(&shared) }
        return try shared.withUnsafeBytes(body)
    }

    /// Returns the unhashed x coordinate of secret · peer (NIP-44's `shared_x`); nil if the peer's key is not on the
    /// curve.
    func sharedX(with peer: PublicKey) -> [UInt8]? {
        // An x-only key denotes the point with even y; the product's x coordinate is equal for both.
        let compressed = [0x02] + peer.bytes
        var point = secp256k1_pubkey()
        guard secp256k1_ec_pubkey_parse(Curve.context, &point, compressed, compressed.count) == 1 else { return nil }
        var secret = secretBytes
        defer { Sodium.wipe(&secret) }
        var shared = [UInt8](repeating: 0, count: 32)
        let done = secp256k1_ecdh(
            Curve.context, &shared, &point, secret,
            { output, x, _, _ in
                guard let output, let x else { return 0 }
                output.update(from: x, count: 32)
                return 1
            }, nil)
        return done == 1 ? shared : nil
    }
}
