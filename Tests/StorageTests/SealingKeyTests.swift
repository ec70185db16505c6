import Errors
import Foundation
import MLS
import Nostr
import Testing

@testable import Storage

@Suite struct SealingKeyTests {
    private let directory: TemporaryDirectory
    private var file: String { self.directory.path + "/sealing.key" }

    init() throws { self.directory = try TemporaryDirectory() }

    @Test func requires32Bytes() throws {
        for count in [0, 31, 33, 64] {
            #expect(throws: StoreError(.invalidKey, "")) { try SealingKey(bytes: Sample.bytes(1, count: count)) }
        }
        let key = try SealingKey(bytes: Sample.bytes(1))
        #expect("\(key)" == "SealingKey")
        #expect(key.secret.copyBytes() == Sample.bytes(1))
    }

    @Test func readsHexadecimalText() throws {
        let hex = Hex.encode(Sample.bytes(1))
        #expect(try SealingKey(parsing: " \(hex)\n").secret.copyBytes() == Sample.bytes(1))
        for text in ["", " ", String(hex.dropLast()), hex + "00", "g" + hex.dropFirst(), hex + " x"] {
            #expect(throws: StoreError(.invalidKey, "")) { try SealingKey(parsing: text) }
        }
    }

    @Test func newKeyFileIsPrivate() throws {
        #expect(throws: StoreError(.invalidKey, "")) { try SealingKey.load(file: self.file) }
        let key = try SealingKey.loadOrCreate(file: self.file)
        #expect(try self.directory.mode("sealing.key") == 0o600)
        #expect(try SealingKey.loadOrCreate(file: self.file).secret == key.secret)
        #expect(try SealingKey.load(file: self.file).secret == key.secret)
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.directory.path) == ["sealing.key"])
        #expect(SealingKey.random().secret != key.secret)
    }

    @Test func refusesFileReadableByOthers() throws {
        _ = try SealingKey.loadOrCreate(file: self.file)
        for mode in [0o640, 0o604, 0o620] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self.file)
            let error = #expect(throws: StoreError.self) { try SealingKey.loadOrCreate(file: self.file) }
            #expect(error?.code == .permission)
            #expect(error?.message.contains("chmod 600") == true)
        }
    }

    @Test func refusesOtherContentWithoutRevealingIt() throws {
        for content in ["", "nsec1secretsecret", String(repeating: "a", count: 5000)] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: self.file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: self.file)
            let error = #expect(throws: StoreError.self) { try SealingKey.load(file: self.file) }
            #expect(error?.code == .invalidKey)
            #expect(error?.description.contains("secretsecret") == false)
        }
        #expect(throws: StoreError(.io, "")) { try SealingKey.load(file: self.directory.path) }
    }
}
