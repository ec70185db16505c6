import Crypto

/// The hash of a cipher suite (RFC 9420 §5.1).
enum HashAlgorithm: Sendable {
    case sha256
    case sha384
    case sha512

    /// Digest length in bytes.
    var length: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Block length in bytes (RFC 2104 pads keys to it).
    var blockLength: Int { self == .sha256 ? 64 : 128 }

    /// Returns the digest of the concatenation of `parts`.
    func digest(_ parts: [UInt8]...) -> [UInt8] {
        var state = HashState(self)
        for part in parts { state.update(part) }
        return state.finalize()
    }
}

/// Incremental hash with any of the suites' algorithms.
struct HashState {
    // Exactly one of the three is set. Optionals rather than an enum payload, because they can be updated in place,
    // which keeps the library's copy-on-write storage cheap.
    private var sha256: SHA256?
    private var sha384: SHA384?
    private var sha512: SHA512?

    init(_ algorithm: HashAlgorithm) {
        switch algorithm {
        case .sha256: self.sha256 = SHA256()
        case .sha384: self.sha384 = SHA384()
        case .sha512: self.sha512 = SHA512()
        }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        self.sha256?.update(bufferPointer: bytes)
        self.sha384?.update(bufferPointer: bytes)
        self.sha512?.update(bufferPointer: bytes)
    }

    mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { self.update($0) }
    }

    /// Calls `body` with the digest.
    func withDigest<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        if let sha256 { return try sha256.finalize().withUnsafeBytes(body) }
        if let sha384 { return try sha384.finalize().withUnsafeBytes(body) }
        guard let sha512 else { preconditionFailure("a hash state holds one algorithm, set by its initialiser") }
        return try sha512.finalize().withUnsafeBytes(body)
    }

    func finalize() -> [UInt8] {
        self.withDigest { Array($0) }
    }
}
