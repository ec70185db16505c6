import TLSCodec

/// Key and nonce of one message (RFC 9420 §9.1).
struct MessageKey: Sendable {
    let key: Secret
    let nonce: Secret
}

/// Tolerance of a ratchet for out-of-order messages (RFC 9420 §15.3), in generations.
struct RatchetLimits: Sendable, Hashable {
    /// Number of generations behind the newest whose unused keys are kept.
    var outOfOrder: UInt32
    /// Maximum number of generations that a message may be ahead.
    var forward: UInt32
}

/// One sender's chain of message keys (RFC 9420 §9.1): each key is derived once and deleted after use.
struct SenderRatchet: Sendable {
    /// The secret of `generation`; nil once the last generation has been used.
    private(set) var secret: Secret?
    /// The first generation that has not been derived yet.
    private(set) var generation: UInt32
    /// Keys of earlier generations whose messages have not arrived.
    private(set) var skipped: [UInt32: MessageKey]

    init(secret: Secret) {
        self.secret = secret
        self.generation = 0
        self.skipped = [:]
    }

    /// Returns the next key for sending, and its generation.
    mutating func next(_ suite: CipherSuite) throws(MLSError) -> (generation: UInt32, key: MessageKey) {
        // V6.3.1-2: No generation is used twice.
        let generation = self.generation
        guard let key = self.step(suite) else {
            throw MLSError(.keyConsumed, "all 2^32 generations of this epoch's ratchet were used")
        }
        return (generation, key)
    }

    /// Consumes and returns the key of `generation` (RFC 9420 §9.2).
    mutating func take(_ generation: UInt32, _ suite: CipherSuite, limits: RatchetLimits) throws(MLSError) -> MessageKey
    {
        if generation < self.generation {
            guard let key = self.skipped.removeValue(forKey: generation) else {
                throw MLSError(.keyConsumed, "the key of generation \(generation) was already used, or is too old")
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
                // Older than the tolerance allows, so do not derive its key.
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

    /// Returns the ratchet without the keys that this one or `other`, another copy of it, has consumed.
    func intersection(_ other: SenderRatchet) -> SenderRatchet {
        // Of two ratchets at the last generation, the one that has used it is ahead.
        let isFurther =
            self.generation > other.generation || self.generation == other.generation && self.secret == nil
        let behind = isFurther ? other : self
        var further = isFurther ? self : other
        further.skipped = further.skipped.filter { generation, _ in
            generation >= behind.generation || behind.skipped[generation] != nil
        }
        return further
    }

    /// Derives the key of the current generation and advances to the next.
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
        // An empty stored secret means none.
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
    /// Returns whether the stored keys fit the suite.
    func isWellFormed(_ suite: CipherSuite) -> Bool {
        self.skipped.values.allSatisfy {
            $0.key.count == suite.aead.keyLength && $0.nonce.count == suite.aead.nonceLength
        }
    }
}
