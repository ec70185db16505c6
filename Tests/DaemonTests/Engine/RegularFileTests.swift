import Foundation
import Testing

@testable import Daemon

@Suite struct RegularFileTests {
    private static func path() -> String { NSTemporaryDirectory() + "daemon-file-\(UUID().uuidString)" }

    @Test func readsWholeFiles() throws {
        let path = Self.path()
        defer { unlink(path) }
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
        #expect(try RegularFile.read(path) == [1, 2, 3])
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(try RegularFile.read(path) == [])
    }

    @Test func refusesOversizedFiles() throws {
        let path = Self.path()
        defer { unlink(path) }
        try Data().write(to: URL(fileURLWithPath: path))
        // A sparse file of a terabyte: reading it would take too long.
        try #require(truncate(path, 1 << 40) == 0)
        let failure = #expect(throws: RegularFile.Failure.self) { try RegularFile.read(path) }
        #expect(failure?.description == "file too large (max 32 MB)")
    }

    @Test func refusesPipesFoldersAndDevices() throws {
        let path = Self.path()
        defer { unlink(path) }
        try #require(mkfifo(path, 0o600) == 0)
        for other in [path, NSTemporaryDirectory(), "/dev/zero"] {
            let failure = #expect(throws: RegularFile.Failure.self) { try RegularFile.read(other) }
            #expect(failure?.description == "not a regular file", "\(other)")
        }
        #expect(throws: RegularFile.Failure.self) { try RegularFile.read(Self.path()) }
    }
}
