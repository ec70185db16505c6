import Foundation
import Nostr
import PikaCore
import Testing

@testable import MLS
@testable import Storage

@Suite struct StoredMediaCacheTests {
    private let directory: TemporaryDirectory
    private let store: AccountStore

    init() async throws {
        self.directory = try TemporaryDirectory()
        self.store = try self.directory.open()
        try await self.store.commit(try (0..<20).flatMap { try self.message($0) })
    }

    /// A message with two files.
    private func message(_ number: Int, expiresAt: UnixTime? = nil) throws -> [StoreChange] {
        let message = StoredMessage(
            groupID: GroupID([0, 0xaa]), rumor: Sample.rumor("files"), id: try Sample.id(number),
            wrapper: try Sample.id(99), epoch: .max, isOwn: true, expiresAt: expiresAt)
        let files = (0..<2).map { index in
            StoredMedia(
                groupID: message.groupID, messageID: message.id, index: index, reference: Tag("imeta"), keys: [])
        }
        return [.putMessage(message)] + files.map { .putMedia($0) }
    }

    private var folder: String { "\(self.directory.state)/media-cache" }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: self.folder).sorted() }
    }

    private func file(_ number: Int) throws -> MediaFile {
        MediaFile(chatID: "00aa", messageID: try Sample.id(number), index: 0)
    }

    /// A cache for this many files of 100 bytes.
    private func cache(of count: Int, files: Int = 100) throws -> StoredMediaCache {
        try self.store.openMediaCache(
            MediaCacheLimits(bytes: count * (100 + Sealer.overhead), files: files))
    }

    private func content(_ number: Int) -> [UInt8] { Sample.bytes(number, count: 100) }

    @Test func returnsKeptFile() async throws {
        let cache = try self.cache(of: 3)
        #expect(try await cache.read(self.file(1)) == nil)
        let location = try await cache.keep(self.content(1), of: try self.file(1))
        #expect(try await cache.read(self.file(1)) == self.content(1))
        let name = try #require(try self.names.first)
        #expect(location == "cache:\(name)")
        let other = MediaFile(chatID: "00aa", messageID: try Sample.id(1), index: 1)
        #expect(await cache.read(other) == nil)
        // An empty file is kept too, and later content replaces earlier content.
        _ = try await cache.keep([], of: other)
        #expect(await cache.read(other) == [])
        _ = try await cache.keep(self.content(2), of: try self.file(1))
        #expect(try await cache.read(self.file(1)) == self.content(2))
        #expect(try self.names.count == 2)
    }

    @Test func filesArePrivateAndSealed() async throws {
        let cache = try self.cache(of: 3)
        _ = try await cache.keep(self.content(1), of: try self.file(1))
        let name = try #require(try self.names.first)
        #expect(name.utf8.count == 34 && name.hasSuffix("-0") && !name.contains("00aa"))
        let path = "\(self.folder)/\(name)"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let folder = try FileManager.default.attributesOfItem(atPath: self.folder)
        #expect(folder[.posixPermissions] as? Int == 0o700)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.count == 100 + Sealer.overhead)
        #expect(bytes.range(of: Data(self.content(1).prefix(16))) == nil)
    }

    @Test func evictsLeastRecentlyUsedFiles() async throws {
        let cache = try self.cache(of: 3)
        for number in 1...3 { _ = try await cache.keep(self.content(number), of: try self.file(number)) }
        #expect(try await cache.read(self.file(1)) == self.content(1))
        _ = try await cache.keep(self.content(4), of: try self.file(4))
        #expect(try await cache.read(self.file(2)) == nil)
        for number in [1, 3, 4] { #expect(try await cache.read(self.file(number)) == self.content(number)) }
        #expect(try self.names.count == 3)
        // One large file displaces several.
        _ = try await cache.keep(Sample.bytes(5, count: 200 + Sealer.overhead), of: try self.file(5))
        #expect(try self.names.count == 2)
        #expect(try await cache.read(self.file(4)) == self.content(4))
    }

    @Test func boundsNumberOfFiles() async throws {
        let cache = try self.cache(of: 100, files: 2)
        for number in 1...3 { _ = try await cache.keep(self.content(number), of: try self.file(number)) }
        #expect(try await cache.read(self.file(1)) == nil)
        #expect(try self.names.count == 2)
    }

    @Test func refusesFileLargerThanCache() async throws {
        let cache = try self.cache(of: 1)
        _ = try await cache.keep(self.content(1), of: try self.file(1))
        let large = try self.file(2)
        let error = await #expect(throws: AppCoreError.self) {
            try await cache.keep(Sample.bytes(2, count: 101), of: large)
        }
        #expect(error?.code == .notAllowed)
        #expect(try await cache.read(self.file(1)) == self.content(1))
    }

    @Test func restartKeepsFilesAndOrderOfUse() async throws {
        let cache = try self.cache(of: 3)
        for number in 1...3 {
            let location = try await cache.keep(self.content(number), of: try self.file(number))
            // The second is the oldest.
            let time = Date(timeIntervalSince1970: number == 2 ? 1_000 : 2_000 + Double(number))
            try FileManager.default.setAttributes(
                [.modificationDate: time], ofItemAtPath: "\(self.folder)/\(location.dropFirst(6))")
        }
        let next = try self.cache(of: 3)
        _ = try await next.keep(self.content(4), of: try self.file(4))
        #expect(try await next.read(self.file(2)) == nil)
        for number in [1, 3, 4] { #expect(try await next.read(self.file(number)) == self.content(number)) }
        // A smaller bound applies at once.
        let smaller = try self.cache(of: 1)
        #expect(try self.names.count == 1)
        var hits = 0
        for number in 1...4 { if try await smaller.read(self.file(number)) != nil { hits += 1 } }
        #expect(hits == 1)
    }

    @Test func removesCorruptFiles() async throws {
        let cache = try self.cache(of: 3)
        for number in 1...3 { _ = try await cache.keep(self.content(number), of: try self.file(number)) }
        let names = try self.names
        // Modified, truncated, and another file's content.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: "\(self.folder)/\(names[0])"))
        let intact = bytes
        bytes[50] ^= 1
        try bytes.write(to: URL(fileURLWithPath: "\(self.folder)/\(names[0])"))
        try intact.prefix(60).write(to: URL(fileURLWithPath: "\(self.folder)/\(names[1])"))
        try intact.write(to: URL(fileURLWithPath: "\(self.folder)/\(names[2])"))
        for number in 1...3 { #expect(try await cache.read(self.file(number)) == nil) }
        #expect(try self.names.isEmpty)
        _ = try await cache.keep(self.content(1), of: try self.file(1))
        #expect(try await cache.read(self.file(1)) == self.content(1))
    }

    @Test func removesForeignFilesAtStart() async throws {
        let previous = try self.cache(of: 3)
        _ = try await previous.keep(self.content(1), of: try self.file(1))
        let kept = try self.names
        let readable = try await previous.keep(self.content(2), of: try self.file(2)).dropFirst(6)
        let target = "\(self.directory.path)/outside"
        try Data([1]).write(to: URL(fileURLWithPath: target))
        // A draft of a crashed process, a stranger's file, a file that others may read, a folder and a link.
        let draft = "\(kept[0]).1f.new"
        for name in [draft, "notes.txt", String(repeating: "b", count: 32) + "-00"] {
            #expect(FileManager.default.createFile(atPath: "\(self.folder)/\(name)", contents: Data(count: 60)))
        }
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: "\(self.folder)/\(readable)")
        try FileManager.default.createDirectory(
            atPath: "\(self.folder)/folder/inner", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(self.folder)/\(String(repeating: "c", count: 32))-0", withDestinationPath: target)
        let cache = try self.cache(of: 3)
        #expect(try self.names == kept)
        #expect(FileManager.default.fileExists(atPath: target))
        #expect(try await cache.read(self.file(1)) == self.content(1))
    }

    @Test func namesHaveOneForm() {
        let message = String(repeating: "0a", count: 16)
        for name in ["\(message)-0", "\(message)-31"] { #expect(CachedFileName(name)?.text == name) }
        for name in [
            "", "-", message, "\(message)-", "\(message)-00", "\(message)-+1", "\(message)-0-1", "0a-0",
            "\(message.uppercased())-0", "\(message)-99999999999999999999", "\(message)-0.1f.new",
        ] { #expect(CachedFileName(name) == nil, "\(name)") }
    }

    // MARK: Deleted messages

    @Test func expiredMessageLosesItsFiles() async throws {
        try await self.store.commit(try self.message(30, expiresAt: 1_000))
        let cache = try self.cache(of: 3)
        _ = try await cache.keep(self.content(1), of: try self.file(1))
        let kept = try self.names
        _ = try await cache.keep(self.content(30), of: try self.file(30))
        try await self.store.commit([.deleteExpired(at: 999)])
        #expect(try self.names.count == 2)
        try await self.store.commit([.deleteExpired(at: 1_000)])
        #expect(try self.names == kept)
        #expect(try await cache.read(self.file(30)) == nil)
    }

    @Test func deletedGroupLosesItsFiles() async throws {
        let cache = try self.cache(of: 3)
        for number in 1...3 { _ = try await cache.keep(self.content(number), of: try self.file(number)) }
        try await self.store.commit([.deleteGroup(key: [0, 0xab])])
        #expect(try self.names.count == 3)
        try await self.store.commit([.deleteGroup(key: [0, 0xaa])])
        #expect(try self.names.isEmpty)
    }

    @Test func lateDownloadOfDeletedMessageIsRemoved() async throws {
        let cache = try self.cache(of: 3)
        _ = try await cache.keep(self.content(30), of: try self.file(30))
        #expect(try self.names.isEmpty)
    }

    @Test func startRemovesFilesOfDeletedMessages() async throws {
        let cache = try self.cache(of: 3)
        for number in 1...2 { _ = try await cache.keep(self.content(number), of: try self.file(number)) }
        // As after a crash between the deletion and the removal.
        let aside = "\(self.directory.path)/aside"
        try FileManager.default.moveItem(atPath: self.folder, toPath: aside)
        try await self.store.commit([.deleteGroup(key: [0, 0xaa])] + (try self.message(1)))
        try FileManager.default.moveItem(atPath: aside, toPath: self.folder)
        let next = try self.cache(of: 3)
        #expect(try self.names.count == 1)
        #expect(try await next.read(self.file(1)) == self.content(1))
    }

    @Test func concurrentUseStaysWithinBounds() async throws {
        let cache = try self.cache(of: 5)
        let files = try (0..<20).map { try self.file($0) }
        let contents = (0..<20).map { self.content($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<100 {
                let number = round * 7 % 20
                group.addTask { _ = try await cache.keep(contents[number], of: files[number]) }
                group.addTask {
                    let bytes = await cache.read(files[number])
                    #expect(bytes == nil || bytes == contents[number])
                }
            }
            try await group.waitForAll()
        }
        #expect(try self.names.count == 5)
    }

    @Test func removesCacheThatIsSwitchedOff() async throws {
        try self.store.removeMediaCache()
        _ = try await self.cache(of: 3).keep(self.content(1), of: try self.file(1))
        try self.store.removeMediaCache()
        #expect(!FileManager.default.fileExists(atPath: self.folder))
    }
}
