import TLSCodec

/// Key and nonce of one message (RFC 9420 §9.1).
struct MessageKey: Sendable {
    let key: Secret
    let nonce: Secret
}

/// How far a ratchet tolerates disorder (RFC 9420 §15.3), in generations.
struct RatchetLimits: Sendable, Hashable {
    /// Unused keys of this many generations before the newest are kept.
    var outOfOrder: UInt32
    /// A message may be this many generations ahead.
    var forward: UInt32
}

/// One sender's chain of message keys (RFC 9420 §9.1): a key is derived once and forgotten when it was used.
struct SenderRatchet: Sendable {
    /// The secret of `generation`; nil when the last generation was used up.
    private(set) var secret: Secret?
    /// The first generation that was not derived yet.
    private(set) var generation: UInt32
    /// Keys of earlier generations whose messages have not come.
    private(set) var skipped: [UInt32: MessageKey]

    init(secret: Secret) {
        self.secret = secret
        self.generation = 0
        self.skipped = [:]
    }

    /// The key for sending, and its generation.
    mutating func next(_ suite: CipherSuite) throws(MLSError) -> (generation: UInt32, key: MessageKey) {
        let generation = self.generation
        guard let key = self.step(suite) else {
            throw MLSError(.keyConsumed, "all 2^32 generations of this epoch's ratchet were used")
        }
        return (generation, key)
    }

    /// Takes out the key of `generation` (RFC 9420 §9.2).
    mutating func take(_ generation: UInt32, _ suite: CipherSuite, limits: RatchetLimits) throws(MLSError) -> MessageKey
    {
        if generation < self.generation {
            guard let key = self.skipped.removeValue(forKey: generation) else {
                throw MLSError(.keyConsumed, "the key of generation \(generation) was used already, or is too old")
            }
            return key
        }
        // checked: the generation is not below the current one.
        guard generation - self.generation <= limits.forward else {
            throw MLSError(
                .generationTooFar,
                "generation \(generation) is \(generation - self.generation) ahead, at most \(limits.forward) are allowed"
            )
        }
        while self.generation < generation {
            let current = self.generation
            // checked: the loop ends when both are equal.
            if generation - current <= limits.outOfOrder {
                self.skipped[current] = self.step(suite)
            } else if let secret = self.secret {
                // Beyond the tolerance anyway: its key is not even derived.
                self.advance(secret, suite)
            }
        }
        guard let key = self.step(suite) else {
            throw MLSError(.keyConsumed, "all 2^32 generations of this epoch's ratchet were used")
        }
        // checked: compared in the same line.
        let oldest = self.generation > limits.outOfOrder ? self.generation - limits.outOfOrder - 1 : 0
        if !self.skipped.isEmpty, oldest > 0 { self.skipped = self.skipped.filter { $0.key >= oldest } }
        return key
    }

    /// Derives the key of the current generation and moves on.
    private mutating func step(_ suite: CipherSuite) -> MessageKey? {
        guard let secret = self.secret else { return nil }
        let key = MessageKey(
            key: suite.deriveTreeSecret(secret, "key", generation: self.generation, length: suite.aead.keyLength),
            nonce: suite.deriveTreeSecret(secret, "nonce", generation: self.generation, length: suite.aead.nonceLength))
        self.advance(secret, suite)
        return key
    }

    private mutating func advance(_ secret: Secret, _ suite: CipherSuite) {
        guard self.generation < .max else {
            self.secret = nil
            return
        }
        self.secret = suite.deriveTreeSecret(
            secret, "secret", generation: self.generation, length: suite.hashLength)
        // checked: the guard above ends the ratchet at the last generation.
        self.generation += 1
    }
}

// struct {
//     optional<opaque<V>> secret; uint32 generation;
//     struct { uint32 generation; opaque key<V>; opaque nonce<V>; } skipped<V>;
// } stored form, version 1

extension SenderRatchet {
    init(from reader: inout TLSReader) throws(TLSCodecError) {
        // An empty stored secret stands for none.
        let secret = try reader.readSecret()
        self.secret = secret.count > 0 ? secret : nil
        self.generation = try reader.readUInt32()
        self.skipped = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> [UInt32: MessageKey] in
            var skipped: [UInt32: MessageKey] = [:]
            while !inner.isAtEnd {
                let generation = try inner.readUInt32()
                let key = try inner.readSecret()
                skipped[generation] = MessageKey(key: key, nonce: try inner.readSecret())
            }
            return skipped
        }
    }

    func encode(to writer: inout TLSWriter) {
        writer.writeSecret(self.secret ?? .empty)
        writer.write(self.generation)
        writer.writeVector { writer in
            for (generation, key) in self.skipped.sorted(by: { $0.key < $1.key }) {
                writer.write(generation)
                writer.writeSecret(key.key)
                writer.writeSecret(key.nonce)
            }
        }
    }
}

extension SenderRatchet {
    /// Whether the stored keys fit the suite.
    func isWellFormed(_ suite: CipherSuite) -> Bool {
        self.skipped.values.allSatisfy {
            $0.key.count == suite.aead.keyLength && $0.nonce.count == suite.aead.nonceLength
        }
    }
}
