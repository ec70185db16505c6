package import FeedRules
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Watches a folder; each complete file is an item, and is moved or deleted once it is stored.
///
/// The folder is read at an interval, because change notices of the system get lost on network file systems.
package struct DirectoryDriver: FeedDriver {
    private let settings: DirectorySettings

    package init(_ settings: DirectorySettings) {
        self.settings = settings
    }

    package func run(_ outlet: FeedOutlet) async throws {
        var scan = DirectoryScan()
        while true {
            for entry in scan.receive(try list()) { try await deliver(entry, outlet) }
            outlet.connected()
            try await outlet.clock.sleep(milliseconds: Int64(settings.every / .milliseconds(1)))
        }
    }

    private func deliver(_ entry: DirectoryScan.Entry, _ outlet: FeedOutlet) async throws {
        guard let bytes = try read(entry.name, limit: outlet.maximumBytes) else {
            let limit = outlet.maximumBytes
            outlet.monitor.note(outlet.feed, FeedError(.tooLarge, "a file exceeds \(limit) bytes; moved it to failed"))
            return try move(entry.name, to: "failed")
        }
        // If the process dies before the file is moved, the item is a duplicate afterwards.
        switch try await outlet.deliver(outlet.item(id: entry.id, bytes, name: entry.name)) {
        case .dropped: try move(entry.name, to: "failed")
        case .stored:
            switch settings.disposal {
            case .move: try move(entry.name, to: "done")
            case .delete: try delete(entry.name)
            }
        }
    }

    // MARK: Files

    private func list() throws -> [DirectoryScan.Entry] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: settings.path) } catch {
            throw FeedError(.files, "the folder cannot be read")
        }
        return names.compactMap { name in
            var status = stat()
            guard DirectoryScan.isCandidate(name), lstat(path(name), &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { return nil }
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            return DirectoryScan.Entry(
                name: name, bytes: Int64(status.st_size),
                changed: Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec / 1_000))
        }
    }

    /// Returns a file's content; nil if it exceeds the limit.
    private func read(_ name: String, limit: Int) throws -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path(name)) else {
            throw FeedError(.files, "a file cannot be opened")
        }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        do {
            while bytes.count <= limit, let part = try file.read(upToCount: limit + 1 - bytes.count), !part.isEmpty {
                bytes.append(contentsOf: part)
            }
        } catch { throw FeedError(.files, "a file cannot be read") }
        return bytes.count > limit ? nil : bytes
    }

    private func move(_ name: String, to folder: String) throws {
        let target = path(folder)
        do {
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
            var place = "\(target)/\(name)"
            var number = 1
            while FileManager.default.fileExists(atPath: place), number < 1_000 {
                number += 1
                place = "\(target)/\(name).\(number)"
            }
            try FileManager.default.moveItem(atPath: path(name), toPath: place)
        } catch { throw FeedError(.files, "a file cannot be moved to \(folder)") }
    }

    private func delete(_ name: String) throws {
        do { try FileManager.default.removeItem(atPath: path(name)) } catch {
            throw FeedError(.files, "a file cannot be deleted")
        }
    }

    private func path(_ name: String) -> String { "\(settings.path)/\(name)" }
}
