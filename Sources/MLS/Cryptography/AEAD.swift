import CSodium
import Crypto
import FoundationEssentials

/// The AEAD of a cipher suite (RFC 9420 §5.1, RFC 5116).
enum AEAD: Sendable {
    case aes128GCM
    case aes256GCM
    case chaCha20Poly1305

    /// AEAD.Nk, in bytes.
    var keyLength: Int { self == .aes128GCM ? 16 : 32 }
    /// AEAD.Nn, in bytes.
    var nonceLength: Int { 12 }
    /// Length of the tag, in bytes.
    var tagLength: Int { 16 }

    /// Returns the ciphertext followed by the tag.
    func seal(_ plaintext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8]) throws -> [UInt8] {
        switch self {
        case .aes128GCM, .aes256GCM:
            let box = try AES.GCM.seal(
                plaintext, using: self.symmetricKey(key), nonce: AES.GCM.Nonce(data: nonce),
                authenticating: additionalData)
            var output: [UInt8] = []
            output.reserveCapacity(plaintext.count + self.tagLength)
            output.append(contentsOf: box.ciphertext)
            output.append(contentsOf: box.tag)
            return output
        case .chaCha20Poly1305:
            var output = [UInt8](repeating: 0, count: plaintext.count + self.tagLength)
            var keyBytes = key.copyBytes()
            defer { keyBytes.wipe() }
            crypto_aead_chacha20poly1305_ietf_encrypt(
                &output, nil, plaintext, UInt64(plaintext.count), additionalData, UInt64(additionalData.count), nil,
                nonce, keyBytes)
            return output
        }
    }

    /// Returns the plaintext of a ciphertext with its tag, or throws `MLSError.Code.decryptionFailed`.
    func open(_ ciphertext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8]) throws(MLSError) -> [UInt8] {
        guard ciphertext.count >= self.tagLength else {
            throw MLSError(
                .decryptionFailed, "ciphertext has \(ciphertext.count) bytes, fewer than its \(self.tagLength)-byte tag"
            )
        }
        let plaintext =
            switch self {
            case .aes128GCM, .aes256GCM:
                self.openGCM(ciphertext, key: key, nonce: nonce, additionalData: additionalData)
            case .chaCha20Poly1305:
                self.openChaCha20(ciphertext, key: key, nonce: nonce, additionalData: additionalData)
            }
        guard let plaintext else { throw MLSError(.decryptionFailed, "the AEAD tag does not match") }
        return plaintext
    }

    private func openGCM(_ ciphertext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8]) -> [UInt8]? {
        let split = ciphertext.count - self.tagLength
        guard let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: ciphertext[..<split], tag: ciphertext[split...]),
            let plaintext = try? AES.GCM.open(box, using: self.symmetricKey(key), authenticating: additionalData)
        else { return nil }
        return [UInt8](plaintext)
    }

    private func openChaCha20(_ ciphertext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8]) -> [UInt8]? {
        // One byte more than needed, because libsodium requires a non-null pointer even for an empty plaintext.
        var output = [UInt8](repeating: 0, count: ciphertext.count - self.tagLength + 1)
        var keyBytes = key.copyBytes()
        defer { keyBytes.wipe() }
        guard
            crypto_aead_chacha20poly1305_ietf_decrypt(
                &output, nil, nil, ciphertext, UInt64(ciphertext.count), additionalData, UInt64(additionalData.count),
                nonce, keyBytes) == 0
        else { return nil }
        output.removeLast()
        return output
    }

    private func symmetricKey(_ key: Secret) -> SymmetricKey {
        key.withUnsafeBytes { SymmetricKey(data: $0) }
    }
}
