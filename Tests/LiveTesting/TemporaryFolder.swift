import Foundation

/// Passes a new folder to `body` and deletes it afterwards.
public func withTemporaryFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pikabot-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.path)
}

/// Does the same for an asynchronous `body`.
public func inTemporaryFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pikabot-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path)
}

public func writeFile(_ text: String, to path: String, mode: Int = 0o600) throws {
    try writeFile(Array(text.utf8), to: path, mode: mode)
}

public func writeFile(_ bytes: [UInt8], to path: String, mode: Int = 0o600) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}
