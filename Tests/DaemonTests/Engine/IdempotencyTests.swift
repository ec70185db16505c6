import BotTesting
import Nostr
import PikaCore
import Testing

@testable import Daemon

/// Idempotent commands: the same key gives the same reply and acts once, even across crashes.
@Suite struct IdempotencyTests {
    @Test func sameKeyGivesSameReply() async throws {
        let daemon = try await DaemonLab.make(seed: 1)
        let bob = try await daemon.lab.member("bob")
        _ = try await daemon.result("hello", ["protocol": 2])
        let start: JSONObject = ["peer_pubkey": .string(bob.publicKey.hex), "idempotency_key": "start"]
        let made = try await daemon.result("init_group", start)
        let first = daemon.lines.count
        #expect(try await daemon.result("init_group", start) == made)
        #expect(daemon.types(from: first) == ["ok"], "events must be sent once")
        let group = try #require(made["nostr_group_id"])
        let message: JSONObject = ["nostr_group_id": group, "content": "once", "idempotency_key": "m"]
        let sent = try await daemon.result("send_message", message)
        #expect(try await daemon.result("send_message", message) == sent)
        var other = message
        other["content"] = "something else"
        #expect(try await daemon.failure("send_message", other) == "key_reused")
        daemon.account.crash()
        try await daemon.account.restart()
        _ = try await daemon.result("hello", ["protocol": 2])
        #expect(try await daemon.result("send_message", message) == sent)
        #expect(try await daemon.result("init_group", start) == made)
        #expect(bob.heard() == ["once"])
        #expect(try await bob.state().chatList.count == 1)
    }

    @Test func ignoresKeysWithoutHello() async throws {
        let daemon = try await DaemonLab.make(seed: 2)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        let group = try #require(made["nostr_group_id"])
        for _ in 0..<2 {
            _ = try await daemon.result(
                "send_message", ["nostr_group_id": group, "content": "twice", "idempotency_key": "m"])
        }
        #expect(bob.heard() == ["twice", "twice"])
    }

    @Test func retriesAfterAnError() async throws {
        let daemon = try await DaemonLab.make(seed: 3)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        _ = try await daemon.result("hello", ["protocol": 2])
        let message: JSONObject = [
            "nostr_group_id": try #require(made["nostr_group_id"]), "content": "x", "idempotency_key": "m",
        ]
        daemon.lab.network.onPublish { _ in .refuse("blocked: not now") }
        #expect(try await daemon.failure("send_message", message) == "publish_failed")
        daemon.lab.network.deliverEverything()
        _ = try await daemon.result("send_message", message)
        #expect(bob.heard() == ["x"])
    }

    @Test func repeatedCommandAwaitsQueuedMessage() async throws {
        let daemon = try await DaemonLab.make(seed: 4)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        _ = try await daemon.result("hello", ["protocol": 2])
        let message: JSONObject = [
            "nostr_group_id": try #require(made["nostr_group_id"]), "content": "x", "idempotency_key": "m",
        ]
        daemon.lab.network.takeDown(daemon.lab.relay)
        #expect(try await daemon.command("send_message", message) == nil)
        try await daemon.lab.advance(by: .seconds(30))
        #expect(daemon.lines.last?["code"] == "publish_failed")
        daemon.lab.network.bringUp(daemon.lab.relay)
        try await daemon.lab.advance(by: .seconds(120))
        _ = try await daemon.result("send_message", message)
        #expect(bob.heard() == ["x"])
    }

    /// Answers Bob's messages under keys. The daemon crashes at the given commit of its store and restarts; the client
    /// requests missed events and repeats unanswered commands. Returns false if the run ended before that commit.
    private static func conversation(_ point: MemoryCoreStore.StopPoint?, seed: UInt64) async throws -> Bool {
        let daemon = try await DaemonLab.make(seed: seed)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        let group = try #require(made["nostr_group_id"])
        _ = try await daemon.result("hello", ["protocol": 2, "cursor": 2])
        if let point {
            let start = daemon.account.store.commitCount
            switch point {
            case .before(let commit): daemon.account.crash(.before(commit: start + commit))
            case .after(let commit): daemon.account.crash(.after(commit: start + commit))
            }
        }
        var cursor: Int64 = 2
        var events: [Int64: JSONValue] = [:]
        var hasCrashed = false
        func revive() async throws {
            for line in daemon.lines {
                guard let number = line["cursor"]?.integer else { continue }
                if let known = events[number] {
                    #expect(known == line, "event \(number) must be the same in every replay")
                }
                events[number] = line
                cursor = max(cursor, number)
            }
            guard daemon.account.hasCrashed else { return }
            hasCrashed = true
            try await daemon.account.restart()
            let greeting = try await daemon.result("hello", ["protocol": 2, "cursor": .integer(cursor)])
            #expect(greeting["gap"] == false)
            try await revive()
        }
        for number in 0..<4 {
            try await bob.say("\(number)", in: group.chatID)
            try await revive()
            let answer: JSONObject = [
                "nostr_group_id": group, "content": .string("re: \(number)"), "idempotency_key": .string("k\(number)"),
            ]
            var reply = try await daemon.command("send_message", answer)
            while reply == nil {
                try await revive()
                reply = try await daemon.command("send_message", answer)
            }
            #expect(reply?["type"] == "ok", "\(reply?.jsonText ?? "")")
            try await revive()
        }
        try await daemon.lab.advance(by: .seconds(60))
        try await revive()
        #expect(bob.heard() == (0..<4).map { "re: \($0)" })
        let received = events.sorted { $0.key < $1.key }.compactMap { $0.value["content"]?.string }
        #expect(received == (0..<4).map(String.init))
        #expect(events.keys.sorted() == Array(3..<3 + Int64(events.count)), "cursors must have no gaps")
        #expect(daemon.account.store.inbox.isEmpty && daemon.account.store.outbox.isEmpty)
        return hasCrashed
    }

    @Test func messagesSurviveEveryCrashOnce() async throws {
        #expect(try await !Self.conversation(nil, seed: 10))
        var commit = 1
        while try await Self.conversation(.before(commit: commit), seed: 10) {
            #expect(try await Self.conversation(.after(commit: commit), seed: 10))
            commit += 1
            try #require(commit < 400)
        }
        #expect(commit > 20, "the run must reach more crash points")
    }

    /// Creates a group under a key. The daemon crashes at the given commit of its store and restarts; the command is
    /// repeated. Returns false if the run ended before that commit.
    private static func founding(_ point: MemoryCoreStore.StopPoint, seed: UInt64) async throws -> Bool {
        let daemon = try await DaemonLab.make(seed: seed)
        let bob = try await daemon.lab.member("bob")
        _ = try await daemon.result("hello", ["protocol": 2, "cursor": 0])
        let start = daemon.account.store.commitCount
        switch point {
        case .before(let commit): daemon.account.crash(.before(commit: start + commit))
        case .after(let commit): daemon.account.crash(.after(commit: start + commit))
        }
        var events: [Int64: JSONValue] = [:]
        var hasCrashed = false
        func revive() async throws {
            for line in daemon.lines {
                if let number = line["cursor"]?.integer { events[number] = line }
            }
            guard daemon.account.hasCrashed else { return }
            hasCrashed = true
            try await daemon.account.restart()
            _ = try await daemon.result("hello", ["protocol": 2, "cursor": .integer(events.keys.max() ?? 0)])
            try await revive()
        }
        let wish: JSONObject = ["peer_pubkey": .string(bob.publicKey.hex), "idempotency_key": "found"]
        var reply = try await daemon.command("init_group", wish)
        while reply == nil {
            try await revive()
            reply = try await daemon.command("init_group", wish)
        }
        #expect(reply?["type"] == "ok", "\(reply?.jsonText ?? "")")
        try await daemon.lab.advance(by: .seconds(60))
        try await revive()
        let received = events.sorted { $0.key < $1.key }.compactMap { $0.value["type"]?.string }
        #expect(received.filter { $0 == "group_created" }.count == 1, "\(received)")
        #expect(received.filter { $0 == "group_updated" }.count == 1, "\(received)")
        #expect(try await daemon.result("list_groups")["groups"]?.array?.count == 1)
        return hasCrashed
    }

    @Test func commandEventsSurviveEveryCrashOnce() async throws {
        var commit = 1
        while try await Self.founding(.before(commit: commit), seed: 11) {
            #expect(try await Self.founding(.after(commit: commit), seed: 11))
            commit += 1
            try #require(commit < 200)
        }
        #expect(commit > 5, "the run must reach more crash points")
    }
}
