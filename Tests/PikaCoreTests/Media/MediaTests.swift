import BotTesting
import Nostr
import PikaCore
import Testing

/// Returns received files with their size.
private struct MirrorBot: Bot {
    static let name = "mirror"

    init(settings: BotSettings) throws {}

    var handlers: [Handler] {
        Handler(label: "mirror") { event, _ in
            guard case .message(let message) = event.content, let file = message.media.first else { return nil }
            return { context in
                let bytes = try await context.download(file)
                context.send(
                    media: [OutgoingFile(bytes: bytes.reversed(), filename: "back.txt", mediaType: "text/plain")],
                    caption: "\(bytes.count) bytes")
            }
        }
    }
}

/// Files between members: sending, later access, refusals.
@Suite struct MediaTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private struct Pair {
        let lab: GroupLab
        let alice: LabMember
        let bob: LabMember
        let chat: ChatID
    }

    private func pair(_ seed: UInt64) async throws -> Pair {
        let lab = try GroupLab(seed: seed)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        return Pair(lab: lab, alice: alice, bob: bob, chat: try await alice.create("friends", inviting: [bob]))
    }

    private func text(_ text: String, name: String = "a file.txt") -> OutgoingFile {
        OutgoingFile(bytes: Array(text.utf8), filename: name, mediaType: "text/plain")
    }

    @Test func filesStayReadableAcrossEpochsAndRestarts() async throws {
        let pair = try await pair(200)
        let image = OutgoingFile(
            bytes: Self.png, filename: "p.png", mediaType: "Image/PNG; q=1", width: 640, height: 480)
        let id = try await pair.alice.send([text("hello"), image], caption: "look")
        let event = try #require(
            pair.bob.events.lazy.compactMap { if case .message(let message) = $0.content { message } else { nil } }
                .first)
        #expect(event.id == id && event.content == "look" && event.kind == .chatMessage)
        #expect(event.media.map(\.filename) == ["a file.txt", "p.png"])
        #expect(event.media.map(\.type) == ["text/plain", "image/png"])
        #expect(event.media.map(\.width) == [nil, 640])
        #expect(event.media.allSatisfy { $0.nonce.count == 12 && $0.version == "mip04-v2" })
        let stored = try await pair.bob.core.attachments(chatID: pair.chat, messageID: id)
        #expect(stored == event.media)
        #expect(try await pair.bob.messages().first?.media == event.media)
        // More epochs than those whose messages the group can still open.
        for number in 1...8 { try await pair.alice.rename(to: "name \(number)") }
        pair.bob.crash()
        try await pair.bob.restart()
        for member in [pair.alice, pair.bob] {
            #expect(try await member.download(0, of: id) == Array("hello".utf8))
            #expect(try await member.download(1, of: id) == Self.png)
        }
        let uploads = pair.lab.media.uploads
        #expect(uploads.count == 2)
        #expect(!uploads.contains { $0.bytes.starts(with: Self.png) })
        #expect(uploads.allSatisfy { $0.authorization.pubkey == pair.alice.publicKey })
        for upload in uploads {
            try BlossomAuthorization.verify(
                upload.authorization, for: .upload, now: pair.lab.clock.now)
            #expect(BlossomAuthorization.allows(upload.authorization, upload.hash))
        }
    }

    @Test func fallsBackToNextServer() async throws {
        let pair = try await pair(201)
        let servers = pair.lab.mediaServers
        pair.lab.media.setDown(true, servers[0])
        let id = try await pair.alice.send([text("hello")])
        #expect(try await pair.bob.messages().first?.media.first?.url.hasPrefix(servers[1].description) == true)
        pair.lab.media.setDown(true, servers[1])
        let outcome = try await pair.alice.attempt(
            .sendMedia(chatID: pair.chat, OutgoingMedia(files: [text("lost")])))
        guard case .failed(let error) = outcome else { return #expect(Bool(false), "\(String(describing: outcome))") }
        #expect(error.code == .mediaFailed)
        #expect(error.message.contains(servers[0].description) && error.message.contains(servers[1].description))
        await #expect(throws: AppCoreError.self) { try await pair.bob.download(of: id) }
        pair.lab.media.setDown(false, servers[1])
        #expect(try await pair.bob.download(of: id) == Array("hello".utf8))
        #expect(try await pair.bob.messages().count == 1)
    }

    @Test func findsFileOnAnotherServer() async throws {
        let pair = try await pair(202)
        let elsewhere = try MediaURL("https://elsewhere.example")
        let media = OutgoingMedia(files: [text("hello")], servers: [elsewhere])
        guard case .queued(let id, _) = try await pair.alice.perform(.sendMedia(chatID: pair.chat, media)) else {
            return
        }
        let blob = try #require(pair.lab.media.uploads.first)
        _ = try await pair.lab.media.upload(blob, to: pair.lab.mediaServers[1])
        pair.lab.media.setDown(true, elsewhere)
        #expect(try await pair.bob.download(of: id) == Array("hello".utf8))
    }

    @Test func reencryptsWhenEpochChangesDuringUpload() async throws {
        let pair = try await pair(203)
        pair.lab.media.hold()
        let request = pair.alice.begin(.sendMedia(chatID: pair.chat, OutgoingMedia(files: [text("hello")])))
        try await pair.lab.settle()
        #expect(pair.alice.outcome(of: request) == nil)
        try await pair.alice.rename(to: "later")
        pair.lab.media.release()
        try await pair.lab.settle()
        guard case .queued(let id, _) = pair.alice.outcome(of: request) else {
            return #expect(Bool(false), "expected a queued message")
        }
        let uploads = pair.lab.media.uploads
        #expect(uploads.count == 2 && uploads[0].hash != uploads[1].hash)
        #expect(try await pair.bob.download(of: id) == Array("hello".utf8))
    }

    @Test func refusesWrongFileContent() async throws {
        let pair = try await pair(204)
        let id = try await pair.alice.send([text("hello")])
        pair.lab.media.replaceEverything(with: Array("hello".utf8))
        let error = await #expect(throws: AppCoreError.self) { try await pair.bob.download(of: id) }
        #expect(error?.code == .mediaFailed)
    }

    @Test func reportsUnknownMedia() async throws {
        let pair = try await pair(205)
        let id = try await pair.alice.send([text("hello")])
        let plain = try await pair.alice.say("no file")
        for (message, index) in [(id, 1), (id, -1), (plain, 0)] {
            let error = await #expect(throws: AppCoreError.self) { try await pair.bob.download(index, of: message) }
            #expect(error?.code == .unknownMedia)
        }
        let error = await #expect(throws: AppCoreError.self) { try await pair.bob.download(of: id, in: "nonsense") }
        #expect(error?.code == .unknownChat)
    }

    @Test func refusesToUploadInvalidFiles() async throws {
        let pair = try await pair(206)
        let files: [[OutgoingFile]] = [
            [], Array(repeating: text("x"), count: 33), [text("x", name: "a/b")], [text("x", name: "")],
            [OutgoingFile(bytes: [1, 2, 3], filename: "p.png", mediaType: "image/png")],
            [OutgoingFile(bytes: [UInt8](repeating: 0, count: 100 << 20 + 1), filename: "big", mediaType: "video/mp4")],
        ]
        for list in files {
            let outcome = try await pair.alice.attempt(.sendMedia(chatID: pair.chat, OutgoingMedia(files: list)))
            guard case .failed(let error) = outcome else { return #expect(Bool(false), "\(list.count) files passed") }
            #expect(error.code == .notAllowed)
        }
        #expect(pair.lab.media.uploads.isEmpty)
        // Unknown formats are sent without a type.
        let id = try await pair.alice.send([OutgoingFile(bytes: [1], filename: "x.heic", mediaType: "image/heic")])
        #expect(try await pair.bob.messages().last?.media.first?.type == "application/octet-stream")
        #expect(try await pair.bob.download(of: id) == [1])
    }

    @Test func botDownloadsAndSendsFiles() async throws {
        let lab = try GroupLab(seed: 207)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(MirrorBot.self)
        try await alice.create("group", inviting: [bot])
        try await alice.send([text("hello")])
        #expect(alice.heard() == ["5 bytes"])
        let answer = try #require(
            alice.events.lazy.compactMap { if case .message(let message) = $0.content { message } else { nil } }.first)
        #expect(try await alice.download(of: answer.id) == Array("olleh".utf8))
    }

    @Test func groupPictureReachesMembers() async throws {
        let pair = try await pair(208)
        try await pair.alice.perform(
            .setGroupImage(chatID: pair.chat, OutgoingImage(bytes: Self.png, mediaType: "image/png")))
        let upload = try #require(pair.lab.media.uploads.first)
        // Any member may replace the image; the server does not learn the account's key.
        #expect(upload.authorization.pubkey != pair.alice.publicKey)
        for member in [pair.alice, pair.bob] {
            #expect(try await member.summary(of: pair.chat)?.imageHash == upload.hash.hex)
            #expect(try await member.core.groupImage(chatID: pair.chat) == Self.png)
        }
        let denied = try await pair.bob.attempt(
            .setGroupImage(chatID: pair.chat, OutgoingImage(bytes: Self.png, mediaType: "image/png")))
        guard case .failed(let error) = denied else { return #expect(Bool(false), "expected a refusal") }
        #expect(error.code == .notAllowed && pair.lab.media.uploads.count == 1)
        try await pair.alice.perform(.setGroupImage(chatID: pair.chat, nil))
        #expect(try await pair.bob.summary(of: pair.chat)?.imageHash == nil)
        #expect(try await pair.bob.core.groupImage(chatID: pair.chat) == nil)
    }

    @Test func groupPictureMustBeImage() async throws {
        let pair = try await pair(209)
        for image in [
            OutgoingImage(bytes: Self.png, mediaType: "image/jpeg"),
            OutgoingImage(bytes: Self.png, mediaType: "text/plain"), OutgoingImage(bytes: [], mediaType: "image/png"),
        ] {
            let outcome = try await pair.alice.attempt(.setGroupImage(chatID: pair.chat, image))
            guard case .failed(let error) = outcome else { return #expect(Bool(false), "expected a refusal") }
            #expect(error.code == .notAllowed)
        }
        #expect(pair.lab.media.uploads.isEmpty)
    }
}
