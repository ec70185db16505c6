import Foundation

/// Makes a directory that only we can read, and removes it with all that is in it when `body` ends.
func withTemporaryDirectory<Result>(
    named prefix: String, _ body: (_ path: String) async throws -> Result
) async throws -> Result {
    let path = NSTemporaryDirectory() + "\(prefix)-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
