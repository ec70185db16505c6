import BotTesting
import PikaCore
import Testing

/// Files in the host's cache, and their progress in the state.
@Suite struct MediaCacheTests {
    private func pair(_ seed: UInt64) async throws -> (lab: GroupLab, alice: LabMember, bob: LabMember, chat: ChatID) {
        let lab = try GroupLab(seed: seed)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        return (lab, alice, bob, try await alice.create("friends", inviting: [bob]))
    }

    private let file = OutgoingFile(bytes: Array("hello".utf8), filename: "a.txt", mediaType: "text/plain")

    @Test func cachesDownloadAndReportsItsLocation() async throws {
        let (_, alice, bob, chat) = try await self.pair(210)
        let id = try await alice.send([self.file, self.file])
        #expect(try await bob.messages().first?.downloads == [:])
        let outcome = try await bob.perform(.downloadChatMedia(chatID: chat, messageID: id, index: 1))
        #expect(outcome == .done(chatID: chat))
        let name = MediaFile(chatID: chat, messageID: id, index: 1)
        #expect(bob.cache.bytes(of: name) == self.file.bytes)
        #expect(try await bob.messages().first?.downloads == [1: .stored(location: "lab:\(id)/1")])
        let states = bob.snapshots.joined().compactMap { $0.currentChat?.messages.first?.downloads[1] }
        #expect(states.first == .loading && states.last == .stored(location: "lab:\(id)/1"))
        // The same holds when the chat is opened again.
        try await bob.perform(.popScreen)
        #expect(try await bob.messages().first?.downloads == [1: .stored(location: "lab:\(id)/1")])
    }

    @Test func reportsFailedDownloadAndAllowsRetry() async throws {
        let (lab, alice, bob, chat) = try await self.pair(211)
        let id = try await alice.send([self.file])
        _ = try await bob.messages()
        for server in lab.mediaServers { lab.media.setDown(true, server) }
        let failed = try await bob.attempt(.downloadChatMedia(chatID: chat, messageID: id, index: 0))
        guard case .failed(let error) = failed else {
            return #expect(Bool(false), "expected a failure without servers")
        }
        #expect(error.code == .mediaFailed)
        #expect(try await bob.messages().first?.downloads == [0: .failed(error.message)])
        for server in lab.mediaServers { lab.media.setDown(false, server) }
        try await bob.perform(.downloadChatMedia(chatID: chat, messageID: id, index: 0))
        #expect(bob.cache.bytes(of: MediaFile(chatID: chat, messageID: id, index: 0)) == self.file.bytes)
    }

    @Test func readsCachedFileWithoutServers() async throws {
        let (lab, alice, bob, _) = try await self.pair(213)
        let id = try await alice.send([self.file])
        #expect(try await bob.download(of: id) == self.file.bytes)
        for server in lab.mediaServers { lab.media.setDown(true, server) }
        #expect(try await bob.download(of: id) == self.file.bytes)
        await #expect(throws: AppCoreError.self) { try await bob.download(1, of: id) }
    }

    @Test func refusesUnknownMedia() async throws {
        let (_, alice, bob, chat) = try await self.pair(212)
        let id = try await alice.send([self.file])
        for (chat, index, code) in [
            (chat, 1, .unknownMedia), (chat, -1, .unknownMedia), ("none", 0, .unknownChat),
        ] as [(ChatID, Int, AppCoreError.Code)] {
            let outcome = try await bob.attempt(.downloadChatMedia(chatID: chat, messageID: id, index: index))
            guard case .failed(let error) = outcome else { return #expect(Bool(false), "\(chat) \(index)") }
            #expect(error.code == code)
        }
    }
}
