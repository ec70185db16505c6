import CSecp256k1

/// X-only public key (BIP-340), which identifies a Nostr account.
///
/// Any 32 bytes make a value, since relays and tags carry many keys that are never used. Whether a key is on the curve
/// is checked only where it matters: ``init(parsing:)``, ``isOnCurve``, signatures and NIP-44.
public struct PublicKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    let value: Bytes32

    init(value: Bytes32) { self.value = value }

    /// Throws `NostrError.Code.invalidLength` unless there are 32 bytes. Does not check that the key is on the curve.
    public init(bytes: some Collection<UInt8>) throws(NostrError) {
        guard let value = Bytes32(bytes) else {
            throw NostrError(.invalidLength, "public key: expected 32 bytes, found \(bytes.count)")
        }
        self.value = value
    }

    /// Throws `NostrError.Code.invalidHex` unless there are 64 hexadecimal digits. Does not check the curve either.
    public init(hex: String) throws(NostrError) {
        guard let value = Bytes32(hex: hex) else {
            throw NostrError(.invalidHex, "public key: expected 64 hexadecimal digits")
        }
        self.value = value
    }

    /// Throws as ``init(bytes:)`` does, and `NostrError.Code.invalidPublicKey` if the key is not on the curve.
    public init(validating bytes: some Collection<UInt8>) throws(NostrError) {
        try self.init(bytes: bytes)
        try requireOnCurve()
    }

    /// Parses user input, `npub1…` (NIP-19) or 64 hexadecimal digits, and checks that the key is on the curve.
    public init(parsing text: String) throws(NostrError) {
        if text.lowercased().hasPrefix(NIP19.Prefix.publicKey + "1") {
            self = try NIP19.decodePublicKey(text)
        } else {
            try self.init(hex: text)
        }
        try requireOnCurve()
    }

    /// Whether the key is the x coordinate of a point on secp256k1; computed on every access.
    public var isOnCurve: Bool { point != nil }
    /// The 32 bytes of the x coordinate, big-endian.
    public var bytes: [UInt8] { value.bytes }
    /// The key as 64 lower-case hexadecimal digits, as in events and `p` tags.
    public var hex: String { value.hex }
    /// The key as `npub1…` (NIP-19), for display.
    public var npub: String { NIP19.encode(self) }
    /// The same as ``hex``.
    public var description: String { hex }

    /// Compares byte by byte.
    public static func < (left: PublicKey, right: PublicKey) -> Bool { left.value < right.value }

    var point: secp256k1_xonly_pubkey? {
        var point = secp256k1_xonly_pubkey()
        return secp256k1_xonly_pubkey_parse(Curve.context, &point, bytes) == 1 ? point : nil
    }

    private func requireOnCurve() throws(NostrError) {
        guard isOnCurve else { throw NostrError(.invalidPublicKey, "\(hex) is not a point on secp256k1") }
    }
}
