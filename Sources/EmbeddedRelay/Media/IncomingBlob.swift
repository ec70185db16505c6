import Crypto
import Errors
import NIOCore
import NIOHTTP1
import Nostr
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An upload in progress: writes bytes to a draft file and hashes them.
///
/// Blocks on the disk. Calls must not overlap; parts are written in their order.
final class IncomingBlob: Sendable {
    private struct Draft {
        var descriptor: Int32
        var hasher = SHA256()
        var count = 0
    }

    private let path: String
    private let maximumBytes: Int
    private let space: BlobSpace
    /// The draft file; nil once it is discarded.
    private let draft: Mutex<Draft?>

    /// - Parameter space: reserves the draft's disk space until it is discarded; a draft that is moved keeps it.
    init(path: String, maximumBytes: Int, space: BlobSpace) throws {
        try space.resize(from: nil, to: 0)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let failure = Self.failure("opened")
            space.release(0)
            throw failure
        }
        self.path = path
        self.maximumBytes = maximumBytes
        self.space = space
        draft = Mutex(Draft(descriptor: descriptor))
    }

    deinit { discard() }

    private static func failure(_ doing: String) -> any Error {
        errno == ENOSPC || errno == EDQUOT
            ? HTTPRefusal(.insufficientStorage, "the media store is full")
            : RelayError(.storageFailed, "a draft cannot be \(doing): \(String(cString: strerror(errno)))")
    }

    /// Appends a part. Throws an ``HTTPRefusal`` when the file grows too large or the disk is full.
    func write(_ part: ByteBuffer) throws {
        try draft.withLock { draft in
            guard let before = draft?.count else { return }
            let count = before + part.readableBytes
            guard count <= maximumBytes else {
                throw HTTPRefusal(.payloadTooLarge, "the file exceeds the maximum of \(maximumBytes) bytes")
            }
            try space.resize(from: before, to: count)
            draft?.count = count
            try part.withUnsafeReadableBytes { bytes in
                draft?.hasher.update(bufferPointer: bytes)
                try Self.writeAll(bytes, to: draft?.descriptor ?? -1)
            }
        }
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Glibc)
                let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            #elseif canImport(Musl)
                let written = Musl.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            #else
                let written = Darwin.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            #endif
            if written < 0 {
                if errno == EINTR { continue }
                throw failure("written")
            }
            rest = rest.dropFirst(written)
        }
    }

    /// Makes the draft durable; returns its hash and size.
    func complete() throws -> (hash: Bytes32, size: Int) {
        try draft.withLock { draft in
            guard let whole = draft, fsync(whole.descriptor) == 0, let hash = Bytes32(Array(whole.hasher.finalize()))
            else {
                throw Self.failure("made durable")
            }
            return (hash, whole.count)
        }
    }

    func move(to target: String) throws {
        try draft.withLock { draft in
            guard let whole = draft, rename(path, target) == 0 else { throw Self.failure("kept") }
            close(whole.descriptor)
            draft = nil
        }
    }

    /// Removes the draft unless it was moved; idempotent.
    func discard() {
        draft.withLock { draft in
            guard let whole = draft else { return }
            close(whole.descriptor)
            unlink(path)
            space.release(whole.count)
            draft = nil
        }
    }
}
