/// BIP-340 signature, 64 bytes stored inline, not necessarily valid.
public struct Signature: Hashable, Sendable {
    /// The number of bytes, 64.
    public static let count = 64

    private let nonce: Bytes32
    private let proof: Bytes32

    /// Throws `NostrError.Code.invalidLength` unless there are 64 bytes.
    public init(bytes: some Collection<UInt8>) throws(NostrError) {
        guard bytes.count == Signature.count, let nonce = Bytes32(bytes.prefix(32)),
            let proof = Bytes32(bytes.dropFirst(32))
        else { throw NostrError(.invalidLength, "signature: expected 64 bytes, found \(bytes.count)") }
        self.nonce = nonce
        self.proof = proof
    }

    /// Throws `NostrError.Code.invalidHex` unless there are 128 hexadecimal digits.
    public init(hex: String) throws(NostrError) {
        guard let value = Signature(digits: Array(hex.utf8)[...], lowercaseOnly: false) else {
            throw NostrError(.invalidHex, "signature: expected 128 hexadecimal digits")
        }
        self = value
    }

    init?<Digits: RandomAccessCollection<UInt8>>(digits: Digits, lowercaseOnly: Bool) {
        guard digits.count == 2 * Signature.count,
            let nonce = Bytes32(digits: digits.prefix(64), lowercaseOnly: lowercaseOnly),
            let proof = Bytes32(digits: digits.dropFirst(64), lowercaseOnly: lowercaseOnly)
        else { return nil }
        self.nonce = nonce
        self.proof = proof
    }

    /// Wraps a signature created here, which always has 64 bytes.
    init(exactly bytes: [UInt8]) {
        precondition(bytes.count == Signature.count, "a signature has 64 bytes")
        nonce = Bytes32 { $0.copyBytes(from: bytes.prefix(32)) }
        proof = Bytes32 { $0.copyBytes(from: bytes.suffix(32)) }
    }

    func writeHex(into output: UnsafeMutableBufferPointer<UInt8>) {
        nonce.writeHex(into: output)
        proof.writeHex(into: UnsafeMutableBufferPointer(rebasing: output[64...]))
    }

    /// The 64 bytes: the x coordinate of R, then s (BIP-340).
    public var bytes: [UInt8] { nonce.bytes + proof.bytes }
    /// The signature as 128 lower-case hexadecimal digits, as in events.
    public var hex: String { nonce.hex + proof.hex }
}
