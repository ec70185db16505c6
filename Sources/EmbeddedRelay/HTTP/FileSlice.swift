import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The unsent part of an open file.
struct FileSlice: Sendable {
    /// Bytes read and sent at a time.
    static let chunk = 256 << 10

    let file: OpenFile
    let start: Int
    let length: Int

    func dropping(_ count: Int) -> FileSlice {
        FileSlice(file: file, start: start + count, length: length - count)
    }

    /// Reads the next bytes, 1 to ``chunk``. Fails if the file has shrunk.
    func read(on eventLoop: any EventLoop) -> EventLoopFuture<ByteBuffer> {
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
            try file.read(min(length, Self.chunk), at: start)
        }
    }
}

/// A file open for reading, closed with its last reference.
final class OpenFile: Sendable {
    let size: Int
    private let descriptor: Int32

    /// Returns nil unless the path is a readable regular file.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            size = 0
            return nil
        }
        size = Int(status.st_size)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func read(_ count: Int, at offset: Int) throws -> ByteBuffer {
        var bytes = ByteBuffer()
        var got = 0
        repeat {
            bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
                got = pread(descriptor, target.baseAddress, min(count, target.count), off_t(offset))
                return max(0, got)
            }
        } while got < 0 && errno == EINTR
        guard got > 0 else { throw HTTPRefusal(.internalServerError, "cannot read a stored file") }
        return bytes
    }
}
