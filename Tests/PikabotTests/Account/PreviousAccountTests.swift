import Daemon
import Foundation
import Nostr
import Testing

@testable import pikabot

@Suite struct PreviousAccountTests {
    @Test func concurrentCommandsCreateOneAccount() async throws {
        let directory = NSTemporaryDirectory() + "pikabot-tests-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let accounts = try await withThrowingTaskGroup(of: PublicKey.self) { group in
            for _ in 0..<16 { group.addTask { try StoredIdentity.loadOrCreate(in: directory).account } }
            return try await group.reduce(into: Set<PublicKey>()) { $0.insert($1) }
        }
        #expect(accounts.count == 1)
        #expect(try StoredIdentity.load(from: directory).account == accounts.first)
    }

    @Test func movesPreviousAccountCompletely() throws {
        let directory = NSTemporaryDirectory() + "pikabot-tests-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let manager = FileManager.default
        try manager.createDirectory(atPath: directory + "/media/aa", withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: URL(fileURLWithPath: directory + "/media/aa/file"))
        try Data("sealed".utf8).write(to: URL(fileURLWithPath: directory + "/quarantine"))
        _ = try TokenFile(stateDirectory: directory).add(name: "a", scope: .full)
        _ = try StoredIdentity.loadOrCreate(in: directory)
        let folder = try StoredIdentity.archive(in: directory)
        #expect(manager.fileExists(atPath: folder + "/media/aa/file"))
        #expect(manager.fileExists(atPath: folder + "/daemon-tokens.json"))
        #expect(manager.fileExists(atPath: folder + "/quarantine"))
        #expect(!manager.fileExists(atPath: directory + "/media") && !StoredIdentity.exists(in: directory))
        #expect(try TokenFile(stateDirectory: directory).tokens().isEmpty)
    }
}
