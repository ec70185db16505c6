import BotKit
import Foundation
import Testing

@testable import BotRuntime

struct FolderFilesTests {
    @Test func readsFilesFromFolder() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("a.txt").path
        try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
        let files = FolderFiles(folder: folder.path)
        #expect(try await files.read("a.txt", maximumBytes: 5) == Array("hello".utf8))
        #expect(try await FolderFiles(folder: "/").read(path, maximumBytes: 5) == Array("hello".utf8))
        let refusals = [
            ("a.txt", 4, "longer than 4 bytes"), ("b.txt", 9, "No such file or directory"),
            (".", 9, "not a regular file"),
        ]
        for (name, limit, reason) in refusals {
            await #expect(throws: BotError(.noFile, "\(folder.path)/\(name): \(reason)")) {
                try await files.read(name, maximumBytes: limit)
            }
        }
    }
}
