package import BotKit
import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Files that bots' settings name; relative paths start at one folder.
package struct FolderFiles: BotFiles {
    private let folder: String

    package init(folder: String) {
        self.folder = folder
    }

    package func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8] {
        let whole = path.hasPrefix("/") ? path : "\(folder)/\(path)"
        // Non-blocking, so that a FIFO is rejected instead of blocking.
        let descriptor = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw BotError(.noFile, "\(whole): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard FileDescriptors.isRegularFile(descriptor) else {
            throw BotError(.noFile, "\(whole): not a regular file")
        }
        return try Self.contents(of: descriptor, whole, maximumBytes)
    }

    private static func contents(
        of descriptor: Int32, _ path: String, _ maximumBytes: Int
    ) throws(BotError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = systemRead(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw BotError(.noFile, "\(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= maximumBytes else {
                throw BotError(.noFile, "\(path): longer than \(maximumBytes) bytes")
            }
        }
    }
}

/// Returns an absolute path, resolving a relative one against the working directory.
func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let here = getcwd(nil, 0) else { return path }
    defer { free(here) }
    return path.isEmpty ? String(cString: here) : "\(String(cString: here))/\(path)"
}

/// Calls `read(2)`, which the method above would shadow.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
