import CFloorSodium
import Crypto
import Foundation

/// The measured cost of the cryptographic primitives in milliseconds, and the lower bounds for MLS operations that
/// follow from it by RFC 9420, with one thread and without batch verification.
struct Floor {
    let sign, verify, agreement, basePoint: Double
    /// SHA-256 of 64 bytes; and of each further byte.
    let hash64, hashByte: Double
    /// SHA-512 of one byte of a long message: twice in an Ed25519 signature, once in its verification.
    let hash512Byte: Double
    /// AES-128-GCM of 128 bytes; and of each further byte.
    let gcm128, gcmByte: Double

    init(_ watch: Stopwatch) throws {
        let batch = 50
        func time(_ body: () throws -> Void) rethrows -> Double {
            try watch.measure(batch: batch) { for _ in 0..<batch { try body() } }.minimum
        }
        let message = [UInt8](repeating: 7, count: 300)
        let signing = Curve25519.Signing.PrivateKey()
        let publicKey = [UInt8](signing.publicKey.rawRepresentation)
        let signature = [UInt8](try signing.signature(for: message))
        let own = Curve25519.KeyAgreement.PrivateKey()
        let peer = Curve25519.KeyAgreement.PrivateKey().publicKey
        let block = [UInt8](repeating: 3, count: 64)
        let large = [UInt8](repeating: 3, count: 300_000)
        let seed = Data(repeating: 9, count: 32)
        self.sign = try time { consume(try signing.signature(for: message)) }
        self.verify = time {
            consume(crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey))
        }
        self.agreement = try time { consume(try own.sharedSecretFromKeyAgreement(with: peer)) }
        self.basePoint = try time {
            consume(try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: seed).publicKey.rawRepresentation)
        }
        self.hash64 = time { consume(SHA256.hash(data: block)) }
        self.hashByte = watch.measure { consume(SHA256.hash(data: large)) }.minimum / Double(large.count)
        self.hash512Byte = watch.measure { consume(SHA512.hash(data: large)) }.minimum / Double(large.count)
        let key = SymmetricKey(size: .bits128)
        let nonce = AES.GCM.Nonce()
        let short = Array(large[..<128])
        self.gcm128 = try time { consume(try AES.GCM.seal(short, using: key, nonce: nonce)) }
        self.gcmByte =
            try watch.measure { consume(try AES.GCM.seal(large, using: key, nonce: nonce)) }.minimum
            / Double(large.count)
    }

    /// An HMAC over one block: four compressions.
    var derive: Double { 2 * self.hash64 }
    private func hash(_ bytes: Int) -> Double { self.hash64 + self.hashByte * Double(bytes) }
    private func encrypt(_ bytes: Int) -> Double { self.gcm128 + self.gcmByte * Double(bytes) }

    /// One HPKE encryption: an ephemeral key, an agreement, six derivations, one AEAD.
    var seal: Double { self.basePoint + self.open }
    var open: Double { self.agreement + 6 * self.derive + self.gcm128 }

    func send(_ bytes: Int) -> Double { self.sign + self.encrypt(bytes) + self.gcm128 + 6 * self.derive }
    func receive(_ bytes: Int) -> Double { self.verify + self.encrypt(bytes) + self.gcm128 + 6 * self.derive }
    var keyPackage: Double { 2 * self.basePoint + 2 * self.sign }
    var keyPackageVerification: Double { 2 * self.verify }

    /// Adding `count` at once without a path; a commit holds 320 bytes a member, the GroupInfo 217, or 302 in a full
    /// tree.
    func add(_ count: Int, members: Int = 0, isFull: Bool = false) -> Double {
        let commit = 320 * count
        let groupInfo = (isFull ? 302 : 217) * (members + count)
        return Double(count) * (2 * self.verify + self.seal + 3 * self.hash(300)) + 2 * self.sign
            + self.hash(commit) + self.hash(groupInfo) + 2 * self.hash512Byte * Double(commit + groupInfo)
            + self.encrypt(groupInfo) + 12 * self.derive
    }

    func join(_ members: Int, isFull: Bool) -> Double {
        let groupInfo = (isFull ? 302 : 217) * members
        return Double(members + 1) * self.verify + self.open + Double(isFull ? 4 : 2) * Double(members) * self.hash(150)
            + self.hash(groupInfo) + self.hash512Byte * Double(groupInfo) + self.encrypt(groupInfo) + 14 * self.derive
    }

    func createUpdate(path: Int, seals: Int, bytes: Int) -> Double {
        Double(path + 1) * self.basePoint + Double(seals) * self.seal + 2 * self.sign
            + 2 * (self.hash(bytes) + self.hash512Byte * Double(bytes))
            + Double(4 * path + 14) * self.derive
    }

    func processUpdate(path: Int, bytes: Int) -> Double {
        2 * self.verify + self.open + self.basePoint + 2 * self.hash(bytes) + self.hash512Byte * Double(bytes) + Double(
            3 * path) * self.hash(150)
            + 18 * self.derive
    }

    func processAdd(path: Int) -> Double {
        3 * self.verify + 3 * self.hash(400) + Double(path) * self.hash(150) + 14 * self.derive
    }
}
