import Foundation
import GRDB
import MLS
import Nostr
import PikaCore
import Testing

@testable import Storage

@Suite struct OpeningTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test func refusesWrongKeyWithoutDamage() async throws {
        let store = try self.directory.open()
        try await store.commit([.advanceCursor(name: "a", to: 1)])
        try store.close()
        let error = #expect(throws: StoreError.self) { try self.directory.open(SealingKey(bytes: Sample.bytes(8))) }
        #expect(error?.code == .wrongKey)
        #expect(error?.message.hasPrefix(self.directory.state) == true)
        #expect(try await self.directory.open().load().cursors == ["a": 1])
    }

    @Test func refusesAnotherAccount() throws {
        try self.directory.open().close()
        try self.directory.open(account: Sample.account).close()
        try self.directory.open(account: Sample.account).close()
        try self.directory.open().close()
        let other = try PublicKey(bytes: Sample.bytes(50))
        #expect(throws: StoreError(.wrongAccount, "")) { try self.directory.open(account: other) }
    }

    @Test func refusesNewerDatabase() async throws {
        for change in [
            "INSERT INTO grdb_migrations (identifier) VALUES ('999 later')", "UPDATE meta SET format = 2",
        ] {
            let directory = try TemporaryDirectory()
            let store = try directory.open()
            try await store.pool.write { try $0.execute(sql: change) }
            try store.close()
            #expect(throws: StoreError(.newerFormat, "")) { try directory.open() }
        }
    }

    @Test func addsColumnsToEarlierState() async throws {
        let store = try self.directory.open()
        try await store.commit([.putMessage(try Sample.message("old"))])
        try await store.pool.write { database in
            try database.execute(sql: "DROP INDEX message_point")
            for column in ["point", "withdrawn"] {
                try database.execute(sql: "ALTER TABLE message DROP COLUMN \(column)")
            }
            try database.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'withdrawn messages'")
        }
        try store.close()
        let reopened = try self.directory.open()
        let messages = try await reopened.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: 5)
        #expect(messages.map(\.rumor.content) == ["old"] && messages.allSatisfy { $0.point == nil })
    }

    @Test func namesTheLockHolder() throws {
        let store = try self.directory.open(program: "greeter worker")
        let error = #expect(throws: StoreError.self) { try self.directory.open() }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(getpid()) (greeter worker)") == true)
        try store.close()
        try self.directory.open().close()
    }

    @Test func lockIsReleasedWithItsOwner() throws {
        do {
            let lock = try StateDirectoryLock(directory: self.directory.path, program: "one")
            #expect(throws: StoreError(.locked, "")) {
                try StateDirectoryLock(directory: self.directory.path, program: "two")
            }
            withExtendedLifetime(lock) {}
        }
        let lock = try StateDirectoryLock(directory: self.directory.path, program: "three")
        lock.release()
        lock.release()
        _ = try StateDirectoryLock(directory: self.directory.path, program: "four")
    }

    #if os(Linux)
        /// A child shares the lock between fork and exec, like a copy of the descriptor.
        @Test func releaseUnlocksCopiedDescriptors() throws {
            let lock = try StateDirectoryLock(directory: self.directory.path, program: "one")
            let file = URL(fileURLWithPath: self.directory.path + "/lock").resolvingSymlinksInPath().path
            let files = FileManager.default
            let descriptors = try files.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            let copies = descriptors.filter {
                (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file
            }.map { dup($0) }
            defer { for copy in copies { close(copy) } }
            #expect(copies.count == 1)
            lock.release()
            _ = try StateDirectoryLock(directory: self.directory.path, program: "two")
        }
    #endif

    @Test func describesTheLockHolder() throws {
        let lock = try StateDirectoryLock(directory: self.directory.path, program: "one")
        let file = try String(contentsOfFile: "\(self.directory.path)/lock", encoding: .utf8)
        #expect(file.split(separator: "\n").count == 4)
        #expect {
            try StateDirectoryLock(directory: self.directory.path, program: "two")
        } throws: {
            let message = ($0 as? StoreError)?.message ?? ""
            return message.contains("in use by process \(getpid()) (one) on ") && message.contains(" UTC (command: ")
                && message.hasSuffix("; end that process, or give this one another directory")
        }
        // Another file is a separate lock.
        _ = try StateDirectoryLock(directory: self.directory.path, file: "other.lock", program: "two")
        withExtendedLifetime(lock) {}
    }

    @Test(arguments: ["", "x\n", "12", "12 pikabot\n", "12 pikabot\nsoon\nhost\ncommand\n", "12 pikabot\n5\nhost"])
    func readsPartialLockFiles(content: String) throws {
        let descriptor = open("\(self.directory.path)-lock", O_RDWR | O_CREAT, 0o600)
        defer {
            close(descriptor)
            unlink("\(self.directory.path)-lock")
        }
        let bytes = Array(content.utf8)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        let words = LockHolder(reading: descriptor).description
        let isKnown = content.hasPrefix("12")
        let name = content.contains("pikabot") ? "process 12 (pikabot)" : "process 12"
        #expect(words == (isKnown ? name : "another process"))
    }

    @Test func failedOpenReleasesTheLock() throws {
        try self.directory.open().close()
        #expect(throws: StoreError(.wrongKey, "")) { try self.directory.open(SealingKey(bytes: Sample.bytes(8))) }
        try self.directory.open().close()
    }

    @Test func filesAreReadableByOwnerOnly() async throws {
        let store = try self.directory.open()
        try await store.commit([.advanceCursor(name: "a", to: 1)])
        #expect(try self.directory.mode("state") == 0o700)
        for name in ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "lock"] {
            #expect(try self.directory.mode("state/\(name)") == 0o600, "\(name)")
        }
        try store.close()
        #expect(try self.directory.contents()["state.sqlite-wal"]?.isEmpty != false)
    }

    @Test func tightensDatabaseFilePermissions() throws {
        try self.directory.open().close()
        let file = self.directory.state + "/state.sqlite"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        try self.directory.open().close()
        #expect(try self.directory.mode("state/state.sqlite") == 0o600)
    }

    @Test func refusesDirectoryWritableByOthers() throws {
        try FileManager.default.createDirectory(atPath: self.directory.state, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: self.directory.state)
        let error = #expect(throws: StoreError.self) { try self.directory.open() }
        #expect(error?.code == .permission)
        #expect(error?.message.contains("chmod 700") == true)
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
    func namesReadOnlyDirectory() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: self.directory.path)
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: self.directory.path)
        }
        #expect(throws: StoreError(.permission, "")) { try self.directory.open() }
    }

    @Test func namesFileInPlaceOfDirectory() throws {
        try Data("x".utf8).write(to: URL(fileURLWithPath: self.directory.state))
        let error = #expect(throws: StoreError.self) { try self.directory.open() }
        #expect(error?.code == .io)
        #expect(error?.message == "\(self.directory.state): not a directory")
    }

    @Test func namesFileThatIsNotADatabase() throws {
        try self.directory.open().close()
        let file = self.directory.state + "/state.sqlite"
        try Data(Sample.bytes(1, count: 8192)).write(to: URL(fileURLWithPath: file))
        #expect(throws: StoreError(.corrupt, "")) { try self.directory.open() }
    }
}
