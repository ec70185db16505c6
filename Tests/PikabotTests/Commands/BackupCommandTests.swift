import ArgumentParser
import BotProgram
import Foundation
import PikaCore
import Storage
import Testing

@testable import pikabot

@Suite struct BackupCommandTests {
    private func run(_ arguments: String...) throws {
        var command = try Pikabot.parseAsRoot(arguments)
        try command.run()
    }

    @Test func backsUpAndRestoresState() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let state = directory + "/state"
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let key = try SealingKey.loadOrCreate(file: state + "/sealing.key")
            let store = try AccountStore.open(directory: state, sealingKey: key)
            try await store.commit([.advanceCursor(name: "a", to: 4)])
            let file = directory + "/backup"
            try self.run("backup", "--state", state, "--to", file)
            try store.close()

            let target = directory + "/other"
            #expect(throws: CommandError.self) { try self.run("restore", file, "--state", target) }
            #expect(!FileManager.default.fileExists(atPath: target))
            try self.run("restore", file, "--state", target, "--sealing-key", state + "/sealing.key")
            let restored = try AccountStore.open(
                directory: target, sealingKey: try SealingKey.load(file: target + "/sealing.key"))
            let loaded = try await restored.load()
            #expect(loaded.cursors == ["a": 4] && loaded.instance.isRestored)
            try restored.close()
            // Neither an existing state nor an existing key is replaced.
            #expect(throws: StoreError.self) { try self.run("restore", file, "--state", target) }
            #expect(throws: CommandError.self) {
                try self.run("restore", file, "--state", target, "--sealing-key", state + "/sealing.key")
            }
        }
    }
}
