import Foundation

/// Reads files that a command names.
enum RegularFile {
    static let maximumBytes = 32 << 20

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the result of ``read(_:)``.
    static func content(_ path: String) -> Result<[UInt8], Failure> {
        do throws(Failure) { return .success(try self.read(path)) } catch { return .failure(error) }
    }

    /// Returns the bytes of a regular file. Reads nothing of a file that is too large or of another type.
    static func read(_ path: String) throws(Failure) -> [UInt8] {
        // Non-blocking, so that opening a pipe does not wait for its writer.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure(description: String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(description: "not a regular file") }
        guard status.st_size <= self.maximumBytes else { throw Failure(description: "file too large (max 32 MB)") }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            // The file may grow while it is read.
            let data = try handle.read(upToCount: self.maximumBytes + 1) ?? Data()
            guard data.count <= self.maximumBytes else { throw Failure(description: "file too large (max 32 MB)") }
            return [UInt8](data)
        } catch {
            throw (error as? Failure) ?? Failure(description: error.localizedDescription)
        }
    }
}
