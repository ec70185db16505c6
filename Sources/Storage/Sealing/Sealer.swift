import CSodium
import Foundation
import MLS

/// Seals the values of one database, and hides the ids by which rows are found.
///
/// A sealed value is a random 24-byte nonce followed by the XChaCha20-Poly1305 ciphertext, with the value's place as
/// associated data: it opens only in its own table, row and column. Replacing the whole state with an older one is not
/// detected.
struct Sealer: Sendable {
    /// The version of the sealed format and of the key derivation; part of the associated data.
    static let format: UInt8 = 1
    static let overhead = nonceLength + Int(crypto_aead_xchacha20poly1305_ietf_abytes())

    private static let nonceLength = Int(crypto_aead_xchacha20poly1305_ietf_npubbytes())
    private static let keyLength = Int(crypto_kdf_keybytes())

    private let sealing: Secret
    private let lookup: Secret

    /// - Parameter database: a random number, unique per database, so that values of one do not open in another with
    ///   the same key.
    init(_ key: SealingKey, database: UInt64) {
        Sodium.prepare()
        self.sealing = Self.derive(key, database, "pikaseal")
        self.lookup = Self.derive(key, database, "pikalook")
    }

    private static func derive(_ key: SealingKey, _ number: UInt64, _ context: StaticString) -> Secret {
        Secret(count: Self.keyLength) { output in
            key.secret.withUnsafeBytes { key in
                context.withUTF8Buffer { context in
                    let context = context.map { CChar(bitPattern: $0) }
                    _ = crypto_kdf_derive_from_key(output.bytes, output.count, number, context, key.bytes)
                }
            }
        }
    }

    // MARK: Finding

    /// Returns the public replacement of a private id: 16 bytes of BLAKE2b under a separate key.
    ///
    /// Each part is hashed with its length, so that different lists of parts give different inputs.
    func lookup(_ domain: StaticString, _ parts: [UInt8]...) -> [UInt8] {
        var input = domain.withUTF8Buffer { Array($0) }
        for part in parts {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { input.append(contentsOf: $0) }
            input.append(contentsOf: part)
        }
        var output = [UInt8](repeating: 0, count: 16)
        self.lookup.withUnsafeBytes { key in
            _ = crypto_generichash(&output, output.count, input, UInt64(input.count), key.bytes, key.count)
        }
        return output
    }

    // MARK: Sealing

    func seal(_ value: Secret, in place: Place) -> Data {
        value.withUnsafeBytes { self.seal($0, in: place) }
    }

    func seal(_ value: [UInt8], in place: Place) -> Data {
        value.withUnsafeBytes { self.seal($0, in: place) }
    }

    private func seal(_ value: UnsafeRawBufferPointer, in place: Place) -> Data {
        let associated = place.associatedData
        var sealed = Data(count: value.count + Self.overhead)
        sealed.withUnsafeMutableBytes { output in
            let nonce = UnsafeMutableRawBufferPointer(rebasing: output.prefix(Self.nonceLength))
            let rest = UnsafeMutableRawBufferPointer(rebasing: output.dropFirst(Self.nonceLength))
            Sodium.fillRandomly(nonce)
            self.sealing.withUnsafeBytes { key in
                _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                    rest.bytes, nil, value.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    UInt64(value.count), associated, UInt64(associated.count), nil,
                    UnsafeRawBufferPointer(nonce).bytes, key.bytes)
            }
        }
        return sealed
    }

    // MARK: Opening

    /// Opens a sealed secret. Throws `StoreError.Code.corrupt`, naming the place.
    func openSecret(_ sealed: Data, in place: Place) throws(StoreError) -> Secret {
        guard sealed.count >= Self.overhead else { throw place.corrupt("the sealed value is truncated") }
        var isGenuine = false
        let secret = Secret(count: sealed.count - Self.overhead) { output in
            isGenuine = self.open(sealed, place.associatedData, into: output)
        }
        guard isGenuine else { throw place.corrupt("the sealed value does not decrypt") }
        return secret
    }

    /// Opens a sealed value. Throws `StoreError.Code.corrupt`, naming the place.
    func openBytes(_ sealed: Data, in place: Place) throws(StoreError) -> [UInt8] {
        guard sealed.count >= Self.overhead else { throw place.corrupt("the sealed value is truncated") }
        var bytes = [UInt8](repeating: 0, count: sealed.count - Self.overhead)
        let isGenuine = bytes.withUnsafeMutableBytes { self.open(sealed, place.associatedData, into: $0) }
        guard isGenuine else { throw place.corrupt("the sealed value does not decrypt") }
        return bytes
    }

    private func open(_ sealed: Data, _ associated: [UInt8], into output: UnsafeMutableRawBufferPointer) -> Bool {
        sealed.withUnsafeBytes { input in
            self.sealing.withUnsafeBytes { key in
                let rest = UnsafeRawBufferPointer(rebasing: input.dropFirst(Self.nonceLength))
                return crypto_aead_xchacha20poly1305_ietf_decrypt(
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, nil, rest.bytes, UInt64(rest.count),
                    associated, UInt64(associated.count),
                    input.bytes, key.bytes) == 0
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The base address. libsodium accepts no null pointers; only empty buffers have them, and no buffer here is empty.
    fileprivate var bytes: UnsafePointer<UInt8> {
        guard let base = self.baseAddress else { preconditionFailure("libsodium needs a non-empty buffer") }
        return base.assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate var bytes: UnsafeMutablePointer<UInt8> {
        guard let base = self.baseAddress else { preconditionFailure("libsodium needs a non-empty buffer") }
        return base.assumingMemoryBound(to: UInt8.self)
    }
}
