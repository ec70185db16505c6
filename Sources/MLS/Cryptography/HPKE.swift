/// HPKE in base mode (RFC 9180), built from the primitives.
///
/// A library's HPKE would hash `info` again for every recipient. All recipients of a Welcome share an `info` that
/// contains the whole encrypted GroupInfo, so the cost of adding members would be quadratic. Here `info` is hashed
/// once.
struct HPKE: Sendable {
    /// Hashed `info`, shared by all recipients of one Welcome or of one node's path secret.
    struct Info: Sendable {
        fileprivate let hash: Secret
    }

    let kem: KEM
    let kdf: HashAlgorithm
    let aead: AEAD
    private let suite: [UInt8]
    private let pskIDHash: Secret

    init(_ cipherSuite: CipherSuite) {
        self.kem = cipherSuite.kem
        self.kdf = cipherSuite.hash
        self.aead = cipherSuite.aead
        let kdf: UInt8 =
            switch self.kdf {
            case .sha256: 1
            case .sha384: 2
            case .sha512: 3
            }
        let aead: UInt8 =
            switch self.aead {
            case .aes128GCM: 1
            case .aes256GCM: 2
            case .chaCha20Poly1305: 3
            }
        let kem = self.kem.identifier
        self.suite = Array("HPKE".utf8) + [UInt8(kem >> 8), UInt8(kem & 0xFF), 0, kdf, 0, aead]
        self.pskIDHash = self.kdf.labeledExtract(salt: .empty, suite: self.suite, label: "psk_id_hash", .empty)
    }

    /// Hashes `info` (RFC 9180 §5.1).
    func info(_ info: [UInt8]) -> Info {
        Info(hash: self.kdf.labeledExtract(salt: .empty, suite: self.suite, label: "info_hash", info))
    }

    /// Runs SealBase and returns the encapsulated key and the ciphertext.
    func seal(
        _ plaintext: Secret, to publicKey: [UInt8], info: Info, using rng: inout some RandomNumberGenerator
    ) throws -> HPKECiphertext {
        try self.seal(plaintext, to: publicKey, info: info, by: try self.kem.generateEphemeral(using: &rng))
    }

    /// One of several plaintexts under the same `info`, and its recipient.
    struct Sealing: Sendable {
        let plaintext: Secret
        let publicKey: [UInt8]
    }

    /// Seals several plaintexts, in order. The random bytes are drawn before the work begins, so that the result does not
    /// depend on the executor.
    func seal(
        _ sealings: [Sealing], info: Info, using rng: inout some RandomNumberGenerator, _ work: any WorkExecutor
    ) throws -> [HPKECiphertext] {
        // A key of another curve may need several draws, so those are made one by one.
        guard self.kem == .x25519 else {
            var sealed: [HPKECiphertext] = []
            for sealing in sealings {
                let ephemeral = try self.kem.generateEphemeral(using: &rng)
                sealed.append(try self.seal(sealing.plaintext, to: sealing.publicKey, info: info, by: ephemeral))
            }
            return sealed
        }
        let seeds = sealings.map { _ in Secret.random(count: 32, using: &rng) }
        let results = work.map(Array(zip(sealings, seeds))) { sealing, seed in
            Result {
                let ephemeral = try HPKEPrivateKey(self.kem, bytes: seed)
                return try self.seal(sealing.plaintext, to: sealing.publicKey, info: info, by: ephemeral)
            }
        }
        return try results.map { try $0.get() }
    }

    private func seal(
        _ plaintext: Secret, to publicKey: [UInt8], info: Info, by ephemeral: HPKEPrivateKey
    ) throws -> HPKECiphertext {
        let shared = self.kem.extractAndExpand(
            try ephemeral.agree(with: publicKey), context: ephemeral.publicKey + publicKey)
        let (key, nonce) = self.schedule(shared, info)
        var bytes = plaintext.copyBytes()
        defer { bytes.wipe() }
        return HPKECiphertext(
            kemOutput: ephemeral.publicKey,
            ciphertext: try self.aead.seal(bytes, key: key, nonce: nonce, additionalData: []))
    }

    /// Runs OpenBase and returns the plaintext, or throws `MLSError.Code.decryptionFailed`.
    func open(
        _ sealed: HPKECiphertext, with key: HPKEPrivateKey, info: Info, additionalData: [UInt8] = []
    ) throws(MLSError) -> Secret {
        let shared = self.kem.extractAndExpand(
            try key.agree(with: sealed.kemOutput), context: sealed.kemOutput + key.publicKey)
        let (aeadKey, nonce) = self.schedule(shared, info)
        var bytes = try self.aead.open(
            sealed.ciphertext, key: aeadKey, nonce: nonce, additionalData: additionalData)
        defer { bytes.wipe() }
        return Secret(bytes)
    }

    /// Runs SetupBaseS and exports a secret, from which an external commit creates the init secret (RFC 9420 §8.3).
    func setupSender(
        to publicKey: [UInt8], info: Info, exporting context: [UInt8], length: Int,
        using rng: inout some RandomNumberGenerator
    ) throws -> (kemOutput: [UInt8], exported: Secret) {
        let ephemeral = try self.kem.generateEphemeral(using: &rng)
        let shared = self.kem.extractAndExpand(
            try ephemeral.agree(with: publicKey), context: ephemeral.publicKey + publicKey)
        return (ephemeral.publicKey, self.export(shared, info, context, length))
    }

    /// Runs SetupBaseR and exports a secret (RFC 9420 §8.3).
    func setupRecipient(
        kemOutput: [UInt8], with key: HPKEPrivateKey, info: Info, exporting context: [UInt8], length: Int
    ) throws(MLSError) -> Secret {
        let shared = self.kem.extractAndExpand(try key.agree(with: kemOutput), context: kemOutput + key.publicKey)
        return self.export(shared, info, context, length)
    }

    private func context(_ info: Info) -> [UInt8] {
        // mode_base = 0, then psk_id_hash and info_hash.
        [0] + self.pskIDHash.copyBytes() + info.hash.copyBytes()
    }

    /// Runs KeySchedule of RFC 9180 §5.1 in base mode. The sequence number is always 0, so base_nonce is the nonce.
    private func schedule(_ shared: Secret, _ info: Info) -> (key: Secret, nonce: [UInt8]) {
        let context = self.context(info)
        let secret = self.kdf.labeledExtract(salt: shared, suite: self.suite, label: "secret", .empty)
        let key = self.kdf.labeledExpand(
            secret, suite: self.suite, label: "key", info: context, length: self.aead.keyLength)
        let nonce = self.kdf.labeledExpand(
            secret, suite: self.suite, label: "base_nonce", info: context, length: self.aead.nonceLength)
        return (key, nonce.copyBytes())
    }

    private func export(_ shared: Secret, _ info: Info, _ exporterContext: [UInt8], _ length: Int) -> Secret {
        let secret = self.kdf.labeledExtract(salt: shared, suite: self.suite, label: "secret", .empty)
        let exporter = self.kdf.labeledExpand(
            secret, suite: self.suite, label: "exp", info: self.context(info), length: self.kdf.length)
        return self.kdf.labeledExpand(
            exporter, suite: self.suite, label: "sec", info: exporterContext, length: length)
    }
}

extension KEM {
    /// Generates an ephemeral key pair; X25519 accepts any 32 bytes, the other curves derive theirs.
    fileprivate func generateEphemeral(using rng: inout some RandomNumberGenerator) throws(MLSError) -> HPKEPrivateKey {
        self == .x25519
            ? try HPKEPrivateKey(self, bytes: .random(count: 32, using: &rng)) : try self.generateKeyPair(using: &rng)
    }
}

extension HashAlgorithm {
    /// Returns LabeledExtract of RFC 9180 §4.
    func labeledExtract(salt: Secret, suite: [UInt8], label: String, _ inputKeyMaterial: Secret) -> Secret {
        inputKeyMaterial.withUnsafeBytes { self.labeledExtract(salt: salt, suite: suite, label: label, $0) }
    }

    /// Returns LabeledExtract of RFC 9180 §4.
    func labeledExtract(salt: Secret, suite: [UInt8], label: String, _ inputKeyMaterial: [UInt8]) -> Secret {
        inputKeyMaterial.withUnsafeBytes { self.labeledExtract(salt: salt, suite: suite, label: label, $0) }
    }

    private func labeledExtract(
        salt: Secret, suite: [UInt8], label: String, _ inputKeyMaterial: UnsafeRawBufferPointer
    ) -> Secret {
        let prefix = Array("HPKE-v1".utf8) + suite + Array(label.utf8)
        return salt.withUnsafeBytes { salt in
            prefix.withUnsafeBytes { self.hmac(key: salt, [$0, inputKeyMaterial]) }
        }
    }

    /// Returns LabeledExpand of RFC 9180 §4.
    func labeledExpand(_ prk: Secret, suite: [UInt8], label: String, info: [UInt8], length: Int) -> Secret {
        let prefix = [UInt8(length >> 8), UInt8(length & 0xFF)] + Array("HPKE-v1".utf8) + suite + Array(label.utf8)
        return self.expand(prk, info: prefix + info, length: length)
    }
}
