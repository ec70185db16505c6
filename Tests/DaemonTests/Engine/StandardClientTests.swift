import BotTesting
import LiveTesting
import Logging
import Nostr
import PikaCore
import ProcessSupport
import Testing

@testable import Daemon

/// Standard clients that do not read or have disconnected.
@Suite(.live) struct StandardClientTests {
    @Test func endsDespiteAnUnreadClient() async throws {
        var generator = SystemRandomNumberGenerator()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let core = AppCore(
            account: .generate(using: &generator), configuration: CoreConfiguration(relays: [], invites: .nobody),
            ports: CorePorts(
                transport: LabNetwork(relays: []).transport(name: "daemon"), store: MemoryCoreStore(),
                clock: SystemClock(), logger: logger))
        let standard = DaemonClient(.standard, limit: 10)
        let engine = DaemonEngine(
            core: core, settings: DaemonSettings(core: CoreConfiguration(relays: []), relayPatience: nil),
            standard: standard, clock: SystemClock(), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await core.run() }
            let engineTask = Task { try await engine.run() }
            #expect(await engine.waitUntilReady())
            // `ready` fills the queue: these wait forever.
            let commands = (0..<3).map { _ in
                Task { await engine.receive(.line(Array(#"{"cmd":"list_groups"}"#.utf8)), from: standard) }
            }
            await Task.yield()
            engine.end()
            try await engineTask.value
            for command in commands { await command.value }
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
        #expect(standard.lines.isClosed)
    }

    @Test func recordsEventsAfterStandardOutputCloses() async throws {
        let daemon = try await DaemonLab.make(seed: 31)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        let chat = try #require(made["nostr_group_id"])
        let client = try await daemon.connect()
        _ = try await daemon.reply(client, "hello", ["protocol": 2])
        daemon.standard.lines.close(dropping: true)
        for number in 0..<45 { try await bob.say("\(number)", in: chat.chatID) }
        #expect(daemon.account.store.inbox.isEmpty)

        // A wait for the delivery of all events ends before its timeout.
        let carol = try await daemon.lab.member("carol")
        let peers: JSONObject = ["nostr_group_id": chat, "peer_pubkeys": [.string(carol.publicKey.hex)]]
        #expect(try await daemon.reply(client, "add_members", peers).contains { $0["type"] == "ok" })
        // The group is of the second generation: until Bob has settled the commit, his messages wait.
        try await daemon.lab.advance(by: .seconds(2))

        daemon.account.crash(.before(commit: daemon.account.store.commitCount + 1))
        try await bob.say("last", in: chat.chatID)
        try #require(daemon.account.hasCrashed)
        try await daemon.account.restart()
        let again = try await daemon.connect()
        var lines = try await daemon.reply(again, "hello", ["protocol": 2, "cursor": 2])
        while case let more = try await daemon.read(again), !more.isEmpty { lines += more }
        #expect(lines.compactMap { $0["content"]?.string } == (0..<45).map(String.init) + ["last"])
    }

    @Test func connectsAfterStartingOffline() async throws {
        let lab = try GroupLab(seed: 33)
        for relay in lab.relays { lab.network.takeDown(relay) }
        let daemon = try await DaemonLab.make(seed: 33, lab: lab)
        #expect(daemon.lines.isEmpty)
        try await lab.advance(by: .seconds(89))
        #expect(daemon.lines.isEmpty)
        try await lab.advance(by: .seconds(2))
        #expect(daemon.types() == ["ready"])
        #expect(try await daemon.result("list_groups") == ["groups": []])
        for relay in lab.relays { lab.network.bringUp(relay) }
        try await lab.settle()
        let bob = try await lab.member("bob")
        _ = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
    }

    @Test func startsWithOneReachableRelay() async throws {
        let lab = try GroupLab(seed: 34, relays: 2)
        lab.network.takeDown(lab.relays[0])
        let daemon = try await DaemonLab.make(seed: 34, lab: lab)
        #expect(daemon.types() == ["ready"])
    }

    @Test func deliversMessagesWithoutLateFiles() async throws {
        let daemon = try await DaemonLab.make(seed: 32, mediaDirectory: "/nonexistent/daemon-media")
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        let chat = try #require(made["nostr_group_id"]?.chatID)
        daemon.lab.media.holdDownloads()
        let files = (0..<3).map { OutgoingFile(bytes: [1, UInt8($0)], filename: "\($0).txt", mediaType: "text/plain") }
        try await bob.perform(.sendMedia(chatID: chat, OutgoingMedia(files: files, caption: "look")))
        try await bob.say("next", in: chat)
        #expect(daemon.events("message_received").isEmpty)
        try await daemon.lab.advance(by: .seconds(21))
        let messages = daemon.events("message_received")
        #expect(messages.map { $0["content"] } == ["look", "next"])
        #expect(messages.first?["media"]?.array?.count == 3)
        #expect(
            messages.first?["media"]?.array?.allSatisfy { $0["local_path"] == nil || $0["local_path"] == .null } == true
        )
    }
}
