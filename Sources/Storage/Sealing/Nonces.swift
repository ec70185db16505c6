import Synchronization

/// Nonces of XChaCha20-Poly1305 that never repeat under one key: 16 random bytes for each sealer of each process, and a
/// counter. Random bytes for each value would cost a system call.
final class Nonces: Sendable {
    private let prefix: [UInt8]
    private let counter = Atomic<UInt64>(0)

    init() {
        var prefix = [UInt8](repeating: 0, count: 16)
        prefix.withUnsafeMutableBytes { Sodium.fillRandomly($0) }
        self.prefix = prefix
    }

    /// Writes the next nonce into 24 bytes.
    func next(into nonce: UnsafeMutableRawBufferPointer) {
        // checked: 2^64 values are never sealed
        let number = self.counter.wrappingAdd(1, ordering: .relaxed).newValue
        nonce.copyBytes(from: self.prefix)
        withUnsafeBytes(of: number) { bytes in
            UnsafeMutableRawBufferPointer(rebasing: nonce[self.prefix.count...]).copyBytes(from: bytes)
        }
    }
}
