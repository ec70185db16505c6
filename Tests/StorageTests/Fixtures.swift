import Foundation
import LiveTesting
import Nostr
import PikaCore
import Storage

@testable import MLS

/// Sample rows; equal numbers give equal rows.
enum Sample {
    private static let author: KeyPair = {
        var generator = SplitMix64(seed: 1)
        return KeyPair.generate(using: &generator)
    }()

    static var account: PublicKey { self.author.publicKey }

    static func bytes(_ number: Int, count: Int = 32) -> [UInt8] {
        var generator = SplitMix64(seed: UInt64(number))
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    static func secret(_ number: Int, count: Int = 40) -> Secret { Secret(self.bytes(number, count: count)) }

    static func id(_ number: Int) throws -> EventID { try EventID(bytes: self.bytes(number)) }

    static func rumor(_ content: String, at time: UnixTime = 1_700_000_000) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: self.account, createdAt: time, kind: .chatMessage,
            tags: [Tag("e", "a\"b\\c", ""), Tag(values: []), Tag("emoji", "\u{1F980}\u{0}\u{1F}")], content: content)
    }

    static func event(_ content: String, at time: UnixTime = 1_700_000_000) -> Event {
        var generator = SplitMix64(seed: 2)
        return self.rumor(content, at: time).signed(by: self.author, using: &generator)
    }

    static func message(_ content: String, in group: Int = 1, at time: UnixTime = 1_700_000_000) throws -> StoredMessage
    {
        let rumor = self.rumor(content, at: time)
        return StoredMessage(
            groupID: GroupID(self.bytes(group)), rumor: rumor, id: rumor.id, wrapper: try self.id(99), epoch: .max,
            isOwn: true)
    }

    static func keyPackage(_ number: Int) -> StoredKeyPackage {
        StoredKeyPackage(
            reference: self.bytes(number), bundle: self.secret(number + 1000),
            slot: String(repeating: "0a", count: 32), createdAt: 5, notAfter: .distantFuture)
    }

    static func outboxRow(_ id: String, sequence: Int64) throws -> OutboxRow {
        OutboxRow(
            id: id, sequence: sequence, event: self.event(id),
            relays: [try RelayURL("wss://one.example/"), try RelayURL("ws://two.example:7000")], purpose: .commit,
            groupID: GroupID(self.bytes(3)), messageID: try self.id(4), attempts: 2)
    }

    static func changes(_ records: [GroupRecord: Secret?], replacesAll: Bool = false) -> GroupStorageChanges {
        GroupStorageChanges(replacesAll: replacesAll, records: records)
    }
}

/// A temporary directory, removed in `deinit`.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    /// The state directory within.
    var state: String { self.path + "/state" }

    func open(
        _ key: SealingKey? = nil, account: PublicKey? = nil, program: String = "tests"
    ) throws -> AccountStore {
        try AccountStore.open(
            directory: self.state, sealingKey: key ?? Self.key, account: account, program: program)
    }

    static var key: SealingKey { get throws { try SealingKey(bytes: Sample.bytes(7)) } }

    /// The bytes of all files in the state directory.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: self.state) {
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: "\(self.state)/\(name)"))
        }
        return contents
    }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(self.path)/\(name)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}
