import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct MediaReducerTests {
    private static let file = OutgoingFile(bytes: [1, 2, 3], filename: "f", mediaType: "text/plain")

    private func encrypt(_ world: inout ReducerWorld, secret: Secret) throws -> EncryptedFile {
        try EncryptedMedia.encrypt(
            [1, 2, 3], type: try MediaType("text/plain"), filename: "f", secret: secret, using: &world.random)
    }

    private func upload(_ world: ReducerWorld, _ index: Int) -> (operation: Int, blobs: [MediaUpload])? {
        world[index].due.lazy.compactMap { effect in
            if case .upload(let operation, let blobs, _) = effect { (operation, blobs) } else { nil }
        }.last
    }

    @Test func opensFileEncryptedBeforeCommit() throws {
        var world = try ReducerWorld.group(2)
        let group = try #require(world[0].group)
        let file = try encrypt(&world, secret: EncryptedMedia.secret(group))
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "later"))
        world.settle()
        let reference = try file.reference(url: "https://x.example/1")
        world.act(0, .sendMessage(chatID: world[0].chatID, OutgoingMessage(content: "", tags: [reference.tag])))
        world.settle()
        for index in 0..<2 {
            let media = try #require(world[index].durable.media.first)
            #expect(media.keys.count == 2 && media.index == 0)
            let keys = try media.keys.map { try MediaKey(stored: $0) }
            #expect(
                try EncryptedMedia.decrypt(file.blob, of: try MediaReference(media.reference), keys: keys) == [1, 2, 3])
        }
    }

    @Test func epochSecretsSurviveRestart() throws {
        var world = try ReducerWorld.group(2)
        let group = try #require(world[0].group)
        let file = try encrypt(&world, secret: EncryptedMedia.secret(group))
        let reference = try file.reference(url: "https://x.example/1")
        // Bob receives the message late, after two commits and a restart.
        world.act(0, .sendMessage(chatID: world[0].chatID, OutgoingMessage(content: "", tags: [reference.tag])))
        world.settle(offline: [1])
        let message = try #require(world.relayed.last)
        for name in ["a", "b"] {
            world.act(0, .renameGroup(chatID: world[0].chatID, name: name))
            world.settle()
        }
        try world.restart(1)
        world.receive(1, message)
        let media = try #require(world[1].durable.media.first)
        #expect(media.keys.first == MediaKey(of: reference, secret: EncryptedMedia.secret(group)).secret)
        #expect(media.keys.count == 2)
    }

    @Test func sendsAfterThreeEpochChanges() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .sendMedia(chatID: world[0].chatID, OutgoingMedia(files: [Self.file])), "media")
        var operations: [Int] = []
        for number in 1...3 {
            let (operation, blobs) = try #require(upload(world, 0))
            operations.append(operation)
            #expect(blobs.count == 1)
            world.settle()
            world.act(0, .renameGroup(chatID: world[0].chatID, name: "\(number)"))
            world.settle()
            world.reduce(0, .uploaded(operation: operation, .success(["https://x.example/\(number)"])))
        }
        #expect(Set(operations).count == 3)
        guard case .queued = world[0].outcomes["media"] else {
            return #expect(Bool(false), "expected a queued message")
        }
        world.settle()
        #expect(world[1].durable.media.count == 1)
    }

    @Test func ignoresUnrequestedUploadResults() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .sendMedia(chatID: world[0].chatID, OutgoingMedia(files: [Self.file])), "media")
        let (operation, _) = try #require(upload(world, 0))
        #expect(world.reduce(0, .uploaded(operation: operation + 1, .success(["x"]))).changes.isEmpty)
        let step = world.reduce(0, .uploaded(operation: operation, .success([])))
        guard case .failed(let error) = world[0].outcomes["media"] else {
            return #expect(Bool(false), "expected a failure")
        }
        #expect(error.code == .mediaFailed && step.queued.isEmpty)
        #expect(world.reduce(0, .uploaded(operation: operation, .success(["https://x"]))).changes.isEmpty)
    }

    @Test func omitsHostileReferences() throws {
        var world = try ReducerWorld.group(2)
        let group = try #require(world[0].group)
        let tag = try encrypt(&world, secret: EncryptedMedia.secret(group)).reference(url: "https://x.example/1").tag
        let broken = [Tag("imeta"), Tag("imeta", "url x", "v mip04-v1"), Tag(values: Array(tag.values.dropLast()))]
        let many = OutgoingMessage(content: "", tags: broken + Array(repeating: tag, count: 100))
        world.act(0, .sendMessage(chatID: world[0].chatID, many))
        world.settle()
        #expect(world[1].durable.media.map(\.index) == Array(0..<32))
        guard case .message(let event) = world[1].delivered.last?.content else { return #expect(Bool(false)) }
        #expect(event.media.count == 32)
    }

    @Test func mediaSecretsRoundTrip() throws {
        var world = try ReducerWorld.group(1)
        var secrets = MediaSecrets()
        let start = try #require(world[0].group)
        let first = AccountGroup.first(start)
        let changes = [secrets.note(first), secrets.note(first)]
        #expect(changes == [true, false])
        for number in 0..<7 {
            world.act(0, .renameGroup(chatID: world[0].chatID, name: "\(number)"))
            world.settle()
            let group = AccountGroup.first(try #require(world[0].group))
            let isChanged = secrets.note(group)
            #expect(isChanged)
        }
        let group = try #require(world[0].group)
        let read = try #require(MediaSecrets(stored: secrets.stored))
        #expect(read.stored == secrets.stored && secrets.stored.count == 6 * 40)
        #expect(read.around(group.epoch).first == EncryptedMedia.secret(group))
        #expect(read.around(group.epoch.later(by: 1)) == [EncryptedMedia.secret(group)])
        #expect(read.around(0).isEmpty && read.around(.max).isEmpty)
        // A rollback drops the secrets of later epochs.
        let isRolledBack = secrets.note(first)
        #expect(isRolledBack && secrets.stored.count == 40)
        #expect(MediaSecrets(stored: Secret([1, 2, 3])) == nil)
    }

    @Test(arguments: [
        "", "x", "ftp://a.example", "https://", "http:///x", "https://a b", "https://user@a.example", "https://a#f",
        "https://é.example", "file:///etc/passwd", "https://a.example:99999",
    ])
    func refusesOtherAddresses(text: String) {
        #expect(throws: AppCoreError.self) { try MediaURL(text) }
    }

    @Test func parsesServerAndBlobAddresses() throws {
        let hash = try #require(Bytes32([UInt8](repeating: 0xAB, count: 32)))
        let server = try MediaURL("HTTPS://media.example:8443/base//")
        #expect(server.upload.description == "HTTPS://media.example:8443/base/upload")
        #expect(server.blob(hash).blobHash == hash)
        #expect(try MediaURL("http://[::1]:3000/\(hash.hex).png?x=1").blobHash == hash)
        #expect(try MediaURL("http://a/\(hash.hex)0").blobHash == nil)
        #expect(server.blobHash == nil)
    }
}
