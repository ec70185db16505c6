import Foundation
import LiveTesting
import ProcessSupport
import Testing

@Suite struct PrivateFileTests {
    private struct Failure: SystemCallError {
        let number: Int32
        let path: String

        init(errno number: Int32, _ doing: String, _ path: String) {
            self.number = number
            self.path = path
        }
    }

    private typealias File = PrivateFile<Failure>

    private func content(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func createNeverReplacesAFile() throws {
        try withTemporaryFolder { (folder: String) throws in
            let path = folder + "/key"
            #expect(try File.create(path, [1]))
            #expect(try !File.create(path, [2]))
            #expect(try content(path) == [1])
            #expect(try mode(path) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["key"])
        }
    }

    @Test func replacesFilesOfAnyMode() throws {
        try withTemporaryFolder { (folder: String) throws in
            let path = folder + "/key"
            try writeFile([1, 2, 3], to: path, mode: 0o644)
            try File.replace(path, [4])
            #expect(try content(path) == [4])
            #expect(try mode(path) == 0o600)
            try File.replace(path, [])
            #expect(try content(path) == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["key"])
        }
    }

    @Test func createsDirectoriesOnlyIfAsked() throws {
        try withTemporaryFolder { (folder: String) throws in
            let path = folder + "/a/b/key"
            let error = #expect(throws: Failure.self) { try File.replace(path, [1]) }
            #expect(error?.number == ENOENT)
            #expect(error?.path == path, "a failure must name the file, not its draft")
            try File.replace(path, [1], createsDirectories: true)
            #expect(try content(path) == [1])
            for directory in ["/a", "/a/b"] { #expect(try mode(folder + directory) == 0o700) }
        }
    }

    @Test func failedReplacementLeavesNoDraft() throws {
        try withTemporaryFolder { (folder: String) throws in
            try FileManager.default.createDirectory(atPath: folder + "/key", withIntermediateDirectories: false)
            #expect(throws: Failure.self) { try File.replace(folder + "/key", [1]) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["key"])
        }
    }

    @Test func createdFilesArePrivate() throws {
        try withTemporaryFolder { (folder: String) throws in
            let path = folder + "/file"
            let descriptor = try File.open(path, O_RDWR | O_CREAT)
            defer { close(descriptor) }
            try File.write([1, 2, 3], to: descriptor, path)
            #expect(try mode(path) == 0o600)
            let reader = try File.open(path, O_RDONLY)
            defer { close(reader) }
            #expect(try File.read(upTo: 2, from: reader, path) == [1, 2])
            #expect(try File.read(upTo: 2, from: reader, path) == [3])
        }
    }
}
