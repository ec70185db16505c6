import Foundation

/// Creates a directory with access for the owner only, and removes it with its contents when `body` ends.
package func withTemporaryDirectory<Result>(
    named prefix: String, _ body: (_ path: String) async throws -> Result
) async throws -> Result {
    let path = NSTemporaryDirectory() + "\(prefix)-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
