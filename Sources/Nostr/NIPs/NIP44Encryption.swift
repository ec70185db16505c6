/// NIP-44 version 2: encryption of text between two keys, padded to obscure its length.
public enum NIP44 {
    /// Maximum size in bytes of a text to send, which every version of the NIP can read.
    public static let maximumPlaintext = 65_535

    /// Maximum size in bytes of a text to read; later versions of the NIP allow more than this library sends.
    public static let maximumReceivedPlaintext = 1_048_576

    private static let version: UInt8 = 2

    /// Key shared by two accounts, equal for both. Wiped with the last copy.
    public struct ConversationKey: Sendable {
        let storage: SecretBytes
    }

    /// Derives the conversation key; throws `NostrError.Code.invalidPublicKey` if the peer's key is not on the curve.
    public static func conversationKey(_ own: KeyPair, _ peer: PublicKey) throws(NostrError) -> ConversationKey {
        guard var shared = own.sharedX(with: peer) else {
            throw NostrError(.invalidPublicKey, "\(peer) is not a point on secp256k1")
        }
        defer { Sodium.wipe(&shared) }
        // HKDF-Extract (RFC 5869): the salt is the HMAC key.
        let extract = Array("nip44-v2".utf8).withUnsafeBytes { HMACSHA256(key: $0) }
        var key = extract.code(shared)
        return ConversationKey(storage: SecretBytes(consuming: &key))
    }

    /// Encrypts a text and returns the Base64 payload. `nonce` must be 32 fresh random bytes, never used twice.
    ///
    /// - Throws: `NostrError.Code.invalidPayloadSize` for a text that is empty or longer than ``maximumPlaintext``;
    ///   `NostrError.Code.invalidLength` unless the nonce has 32 bytes.
    public static func encrypt(
        _ plaintext: [UInt8], _ key: ConversationKey, nonce: [UInt8]
    ) throws(NostrError) -> String {
        try encrypt(plaintext, key, nonce: nonce, limit: maximumPlaintext)
    }

    static func encrypt(
        _ plaintext: [UInt8], _ key: ConversationKey, nonce: [UInt8], limit: Int
    ) throws(NostrError) -> String {
        guard (1...limit).contains(plaintext.count) else {
            throw NostrError(.invalidPayloadSize, "plaintext: expected 1 to \(limit) bytes, found \(plaintext.count)")
        }
        guard nonce.count == 32 else {
            throw NostrError(.invalidLength, "nonce: expected 32 bytes, found \(nonce.count)")
        }
        let keys = MessageKeys(key, nonce: nonce)
        var padded = NIP44.pad(plaintext)
        defer { Sodium.wipe(&padded) }
        let ciphertext = keys.chacha20(padded)
        return Base64.encode([version] + nonce + ciphertext + keys.code(nonce, ciphertext))
    }

    /// Decrypts a payload. The caller must have verified the event that carries it.
    ///
    /// - Throws: `NostrError.Code.unsupportedVersion`, `NostrError.Code.invalidPayloadSize`,
    ///   `NostrError.Code.invalidBase64`, `NostrError.Code.badMAC` or `NostrError.Code.invalidPadding`.
    public static func decrypt(_ payload: String, _ key: ConversationKey) throws(NostrError) -> [UInt8] {
        let data = try decode(payload)
        let nonce = Array(data[1..<33])
        let ciphertext = Array(data[33..<(data.count - 32)])
        let keys = MessageKeys(key, nonce: nonce)
        guard Sodium.equal(keys.code(nonce, ciphertext), Array(data.suffix(32))) else {
            throw NostrError(.badMAC, "the payload is not for this key, or was altered")
        }
        var padded = keys.chacha20(ciphertext)
        defer { Sodium.wipe(&padded) }
        return try unpad(padded)
    }

    private static func decode(_ payload: String) throws(NostrError) -> [UInt8] {
        guard let first = payload.utf8.first, first != UInt8(ascii: "#") else {
            throw NostrError(.unsupportedVersion, "the payload has an unsupported encoding")
        }
        // 65 bytes of version, nonce and MAC, 6 of length prefix, and padding that adds at most an eighth.
        let most = (maximumReceivedPlaintext / 8 * 9 + 71 + 2) / 3 * 4
        guard (132...most).contains(payload.utf8.count) else {
            throw NostrError(.invalidPayloadSize, "invalid payload length: \(payload.utf8.count) characters")
        }
        guard let data = Base64.decode(payload) else { throw NostrError(.invalidBase64, "the payload is not Base64") }
        guard data.count >= 99 else {
            throw NostrError(.invalidPayloadSize, "invalid payload length: \(data.count) bytes")
        }
        guard data[0] == version else {
            throw NostrError(.unsupportedVersion, "the payload is of version \(data[0]), not 2")
        }
        return data
    }
}

extension NIP44 {
    /// Cipher and MAC keys of one message, derived from the conversation key and the nonce.
    struct MessageKeys {
        // Cipher key at offset 0, cipher nonce at 32, MAC key at 44, end at 76.
        let expanded: SecretBytes

        init(_ key: ConversationKey, nonce: [UInt8]) {
            // HKDF-Expand (RFC 5869) to 76 bytes: three blocks, each computed from the previous one, the nonce and its
            // number.
            let hmac = key.storage.withUnsafeBytes { HMACSHA256(key: $0) }
            var previous: [UInt8] = []
            var whole: [UInt8] = []
            whole.reserveCapacity(96)
            for number in UInt8(1)...3 {
                var block = hmac.code(previous, nonce, [number])
                whole += block
                swap(&previous, &block)
                Sodium.wipe(&block)
            }
            Sodium.wipe(&previous)
            expanded = SecretBytes(count: 76) { $0.copyBytes(from: whole[..<76]) }
            Sodium.wipe(&whole)
        }

        func chacha20(_ input: [UInt8]) -> [UInt8] {
            expanded.withUnsafeBytes { keys in
                Sodium.chacha20(
                    input, key: UnsafeRawBufferPointer(rebasing: keys[..<32]),
                    nonce: UnsafeRawBufferPointer(rebasing: keys[32..<44]))
            }
        }

        func code(_ nonce: [UInt8], _ ciphertext: [UInt8]) -> [UInt8] {
            expanded.withUnsafeBytes { HMACSHA256(key: UnsafeRawBufferPointer(rebasing: $0[44..<76])) }
                .code(nonce, ciphertext)
        }
    }
}
