import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Files of messages in the formats of both generations.
@Suite struct FileFormatTests {
    private let bytes = Array("a file".utf8)

    private func sealed(_ world: ReducerWorld, _ filename: String) throws -> SealedFile {
        let group = try #require(world[0].model.groups.values.first)
        var random = CoreRandom(SplitMix64(seed: 5))
        let file = OutgoingFile(bytes: self.bytes, filename: filename, mediaType: "Text/Plain; charset=x")
        return try SealedFile(file, for: group, using: &random)
    }

    @Test(arguments: [GroupProtocol.v1, .v2])
    func everyFormatRoundTrips(groupProtocol: GroupProtocol) throws {
        let world = try ReducerWorld.group(2, groupProtocol: groupProtocol)
        let file = try self.sealed(world, "a.txt")
        let tag = try file.tag(at: "https://files.example/x", width: 3, height: 4)
        let reference = try #require(FileReference(tag))
        let group = try #require(world[0].model.groups.values.first)
        let key = reference.key(group.mediaSecret)
        #expect(try reference.open(file.blob, keys: [Secret([UInt8](repeating: 0, count: 32)), key]) == self.bytes)
        #expect(throws: MarmotError.self) { _ = try reference.open(file.blob, keys: []) }
        let attachment = try #require(MediaAttachment.all(in: [tag]).first)
        #expect(attachment.filename == "a.txt" && attachment.url == "https://files.example/x")
        #expect(attachment.width == 3 && attachment.height == 4)
        #expect(attachment.version == (groupProtocol == .v1 ? "mip04-v2" : "encrypted-media-v2"))
    }

    @Test func fileNamesLoseTheirPaths() throws {
        let world = try ReducerWorld.group(2, groupProtocol: .v2)
        let name = "../\u{1}\\" + String(repeating: "é", count: 120)
        let tag = try self.sealed(world, name).tag(at: "https://files.example/x", width: nil, height: nil)
        let attachment = try #require(MediaAttachment.all(in: [tag]).first)
        #expect(attachment.filename.hasPrefix(".._") && !attachment.filename.contains("/"))
        #expect(attachment.filename.utf8.count <= 210 && attachment.width == nil)
    }

    @Test func uploadsHideTypeOfFile() throws {
        let world = try ReducerWorld.group(2, groupProtocol: .v2)
        #expect(try self.sealed(world, "a.txt").contentType == "application/octet-stream")
    }

    @Test func asksFewAddressesAndSkipsBadOnes() throws {
        let world = try ReducerWorld.group(2, groupProtocol: .v2)
        guard case .second(let file) = try self.sealed(world, "a.txt") else {
            Issue.record("expected a file of the second generation")
            return
        }
        func reference(_ locators: [AttachmentReference.Locator]) throws -> FileReference {
            try #require(FileReference(try file.attachment(at: locators).tag))
        }
        let server = try MediaURL("https://own.example")
        let own = server.blob(file.blobHash).description
        // Members may name any number of addresses, also such as no client asks.
        let user = AttachmentReference.Locator.blossom("https://user@files.example/x")
        let mixed = try reference([user, .blossom("https://files.example/x"), .blossom("https://files.example/x")])
        #expect(try mixed.places(besides: [server]).map(\.description) == ["https://files.example/x", own])
        let many = try reference((0..<100).map { .blossom("https://files.example/\($0)") })
        #expect(try many.places(besides: [server]).count == FileReference.maximumAddresses + 1)
        #expect(try reference([user]).places(besides: [server]).map(\.description) == [own])
        #expect(throws: AppCoreError.self) { _ = try reference([user]).places(besides: []) }
        let elsewhere = try reference([AttachmentReference.Locator(kind: "other-v1", value: "https://files.example/x")])
        #expect(try elsewhere.places(besides: [server]).map(\.description) == [own])
    }

    @Test func retryRefusesFilesOfLeftState() throws {
        var world = try SettlementReducerTests.world(2)
        let media = OutgoingMedia(
            files: [OutgoingFile(bytes: self.bytes, filename: "a.txt", mediaType: "text/plain")],
            servers: [try MediaURL("https://files.example")])
        world.act(1, .sendMedia(chatID: world[1].chatID, media), "media")
        let upload = world[1].due.compactMap { if case .upload(let number, _, _) = $0 { number } else { nil } }.first
        let number = try #require(upload)
        world.reduce(1, .uploaded(operation: number, .success(["https://files.example/x"])))
        guard case .queued(let id, _)? = world[1].outcomes["media"] else {
            Issue.record("expected a queued message, found \(String(describing: world[1].outcomes["media"]))")
            return
        }
        let row = try #require(world[1].publishing.last?.row)
        world.answer(1, row, .refused("blocked: no"))
        world.accounts[1].due = []
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.advance(seconds: 3)
        #expect(world[1].second?.data.name == "new")
        world.act(1, .retryMessage(chatID: world[1].chatID, messageID: id), "retry")
        world.settle()
        #expect(world[1].outcomes["retry"]?.failure == .notAllowed)
    }

    @Test func filesWaitWithTheirMessage() throws {
        var world = try SettlementReducerTests.world(2)
        let media = OutgoingMedia(
            files: [OutgoingFile(bytes: self.bytes, filename: "a.txt", mediaType: "text/plain")],
            servers: [try MediaURL("https://files.example")])
        world.act(1, .sendMedia(chatID: world[1].chatID, media), "media")
        let upload = world[1].due.compactMap { if case .upload(let number, _, _) = $0 { number } else { nil } }.first
        let first = try #require(upload)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.settle()
        world.reduce(1, .uploaded(operation: first, .success(["https://files.example/x"])))
        #expect(world[1].outcomes["media"] == nil)
        // The files are encrypted again for the new epoch.
        world.now += 2000
        for timer in world[1].timers {
            if case .settlement = timer.timer { world.reduce(1, .timer(timer.timer)) }
        }
        let again = world[1].due.compactMap { if case .upload(let number, _, _) = $0 { number } else { nil } }.last
        let second = try #require(again)
        #expect(second != first)
        world.reduce(1, .uploaded(operation: second, .success(["https://files.example/x"])))
        world.advance(seconds: 3)
        guard case .queued? = world[1].outcomes["media"] else {
            Issue.record("expected a queued message, found \(String(describing: world[1].outcomes["media"]))")
            return
        }
        let counts = world[0].delivered.compactMap { event in
            if case .message(let message) = event.content { message.media.count } else { nil }
        }
        #expect(counts == [1])
    }
}
