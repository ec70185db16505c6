import BotTesting
import Nostr
import PikaCore
import Testing

@testable import Daemon

/// Recipients of replies and events, before and after `hello`.
@Suite struct SocketClientTests {
    private static func chat(_ daemon: DaemonLab) async throws -> (bob: LabMember, chat: JSONValue) {
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        return (bob, try #require(made["nostr_group_id"]))
    }

    @Test func repliesToTheSenderOnly() async throws {
        let daemon = try await DaemonLab.make(seed: 1)
        let client = try await daemon.connect()
        #expect(
            try await daemon.reply(client, "list_groups")
                == [["type": "ok", "request_id": "s", "result": ["groups": []]]])
        try await daemon.say("nonsense", from: client)
        let answer = try await daemon.read(client)
        #expect(answer.count == 1 && answer[0]["code"] == "parse_error" && answer[0]["request_id"] == nil)
        try await daemon.say("nonsense")
        try await daemon.say("  ")
        #expect(daemon.types() == ["ready"])
    }

    @Test func plainSocketClientsGetGroupUpdatesOnly() async throws {
        let daemon = try await DaemonLab.make(seed: 2)
        let client = try await daemon.connect()
        let (bob, chat) = try await Self.chat(daemon)
        try await bob.say("hi", in: chat.chatID)
        #expect(try await daemon.read(client).map { $0["type"] } == ["group_updated"])
        #expect(try await daemon.reply(client, "send_typing", ["nostr_group_id": chat]).isEmpty)
        #expect(daemon.lines.last == ["type": "ok", "request_id": "s"])
        #expect(
            try await daemon.reply(client, "react", ["nostr_group_id": chat, "event_id": "x", "emoji": "+"]).isEmpty)
        #expect(daemon.lines.last?["code"] == "bad_event_id")
        // After `hello`, every reply goes to its sender.
        _ = try await daemon.reply(client, "hello", ["protocol": 2])
        #expect(
            try await daemon.reply(client, "react", ["nostr_group_id": chat, "event_id": "x", "emoji": "+"])
                .map { $0["code"] } == ["bad_event_id"])
    }

    @Test func disconnectsSlowClients() async throws {
        let daemon = try await DaemonLab.make(seed: 3)
        let slow = try await daemon.connect(limit: 400)
        let other = try await daemon.connect()
        for _ in 0..<20 { try await daemon.say(#"{"cmd":"list_groups"}"#, from: slow) }
        #expect(slow.lines.isClosed)
        #expect(try await daemon.read(slow).map { $0["code"] } == ["slow_client"])
        #expect(try await daemon.reply(other, "list_groups").count == 1)
        #expect(try await daemon.result("list_groups") == ["groups": []])
    }

    @Test func servesConcurrentClients() async throws {
        let daemon = try await DaemonLab.make(seed: 4)
        var clients: [DaemonClient] = []
        for _ in 0..<50 { clients.append(try await daemon.connect()) }
        _ = try await Self.chat(daemon)
        for client in clients {
            #expect(try await daemon.read(client).map { $0["type"] } == ["group_updated"])
            await daemon.engine.detach(client)
        }
        #expect(try await daemon.result("list_groups")["groups"]?.array?.count == 1)
    }

    // MARK: After hello

    @Test func helloAddsCursors() async throws {
        let daemon = try await DaemonLab.make(seed: 5)
        let (bob, chat) = try await Self.chat(daemon)
        let greeting = try await daemon.result("hello", ["protocol": 2, "client": "test"])
        #expect(greeting["protocol"] == 2 && greeting["cursor"] == 2 && greeting["oldest_cursor"] == 1)
        #expect(greeting["scope"] == "full" && greeting["subscribed"] == true && greeting["replay"] == nil)
        try await bob.say("hi", in: chat.chatID)
        #expect(daemon.lines.last?["content"] == "hi" && daemon.lines.last?["cursor"] == 3)
        #expect(try await daemon.failure("hello", ["protocol": 1]) == "bad_request")
        #expect(try await daemon.failure("hello", ["protocol": 2, "cursor": 4]) == "bad_cursor")
        #expect(try await daemon.failure("hello", ["protocol": 2, "cursor": -1]) == "bad_cursor")
    }

    @Test func replaysMissedEventsThenGoesLive() async throws {
        let daemon = try await DaemonLab.make(seed: 6)
        let (bob, chat) = try await Self.chat(daemon)
        try await bob.say("one", in: chat.chatID)
        try await bob.say("two", in: chat.chatID)
        let client = try await daemon.connect()
        let lines = try await daemon.reply(client, "hello", ["protocol": 2, "cursor": 2])
        #expect(lines.first?["result"]?["replay"] == 2 && lines.first?["result"]?["gap"] == false)
        let rest = lines.count > 1 ? Array(lines.dropFirst()) : try await daemon.read(client)
        #expect(rest.map { $0["content"] } == ["one", "two"] && rest.map { $0["cursor"] } == [3, 4])
        #expect(rest.map { $0["message_id"] } == daemon.events("message_received").map { $0["message_id"] })
        try await bob.say("three", in: chat.chatID)
        #expect(try await daemon.read(client).map { $0["cursor"] } == [5])
    }

    @Test func reportsGapsInTheReplay() async throws {
        let daemon = try await DaemonLab.make(seed: 7, keptEvents: 3)
        let (bob, chat) = try await Self.chat(daemon)
        for number in 0..<6 { try await bob.say("\(number)", in: chat.chatID) }
        let client = try await daemon.connect()
        let lines = try await daemon.reply(client, "hello", ["protocol": 2, "cursor": 1])
        let result = try #require(lines.first?["result"])
        #expect(result["gap"] == true && result["oldest_cursor"] == 6 && result["replay"] == 3)
        let rest = lines.count > 1 ? Array(lines.dropFirst()) : try await daemon.read(client)
        #expect(rest.map { $0["content"] } == ["3", "4", "5"])
    }

    @Test func tokensAuthorizeSocketClients() async throws {
        var generator = SeededGenerator(seed: 8, stream: "tokens")
        let reader = DaemonToken.make(name: "r", scope: .read, now: 1, using: &generator)
        let writer = DaemonToken.make(name: "w", scope: .full, now: 1, using: &generator)
        #expect(try DaemonToken.read(DaemonToken.text(of: [reader.token, writer.token]).jsonText).count == 2)
        let daemon = try await DaemonLab.make(seed: 8, requiresToken: true, tokens: [reader.token, writer.token])
        let client = try await daemon.connect()
        func code(_ name: String, _ fields: JSONObject = [:]) async throws -> String? {
            try await daemon.reply(client, name, fields).first?["code"]?.string
        }
        #expect(try await code("list_groups") == "unauthorized")
        #expect(try await code("hello", ["protocol": 2]) == "unauthorized")
        #expect(try await code("hello", ["protocol": 2, "token": "pikabot_00"]) == "bad_token")
        _ = try await Self.chat(daemon)
        #expect(try await daemon.read(client).isEmpty, "clients without a token must get no events")
        #expect(try await code("hello", ["protocol": 2, "token": .string(reader.text)]) == nil)
        #expect(try await code("list_groups") == nil)
        #expect(try await code("send_message", ["nostr_group_id": "x", "content": "x"]) == "forbidden")
        #expect(try await code("shutdown") == "forbidden")
        #expect(try await code("hello", ["protocol": 2, "token": .string(writer.text)]) == nil)
        #expect(try await code("send_message", ["nostr_group_id": "x", "content": "x"]) == "bad_group_id")
        // Standard input is trusted: the owner of the daemon controls it.
        #expect(try await daemon.result("list_groups")["groups"]?.array?.count == 1)
    }

    @Test(arguments: ["[]", "{", #"{"tokens":[{"name":"a"}]}"#, #"{"tokens":1}"#])
    func refusesInvalidTokenFiles(text: String) {
        #expect(throws: DaemonError.self) { try DaemonToken.read(text) }
    }
}
