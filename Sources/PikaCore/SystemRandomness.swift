import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The system's cryptographic random generator, with one system call for many numbers.
///
/// A reference, because a copy that repeated numbers would be fatal. Numbers are erased from the buffer when they are
/// drawn.
package final class SystemRandomness: RandomNumberGenerator, Sendable {
    /// 256 bytes.
    private static let size = 32

    private let buffer = Mutex<[UInt64]>([])

    package init() {}

    package func next() -> UInt64 {
        self.buffer.withLock { buffer in
            if buffer.isEmpty { buffer = Self.numbers() }
            let number = buffer[buffer.count - 1]
            buffer[buffer.count - 1] = 0
            buffer.removeLast()
            return number
        }
    }

    private static func numbers() -> [UInt64] {
        var numbers = [UInt64](repeating: 0, count: self.size)
        numbers.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { arc4random_buf(start, bytes.count) }
        }
        return numbers
    }
}
