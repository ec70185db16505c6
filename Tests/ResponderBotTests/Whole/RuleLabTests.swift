import BotKit
import BotTesting
import PikaCore
import Testing

@testable import ResponderBot

struct RuleLabTests {
    @Test func repliesToCommands() async throws {
        let room = try await Room(
            ["when": ["command": "ping", "aliases": ["p"], "help": "says pong"], "reply": "pong"],
            ["when": ["command": "say"], "reply": "{1|nothing}, {args} by {sender} in {chat} of {members}, {me}"])
        #expect(try await room.answers(to: "/ping") == ["pong"])
        #expect(try await room.answers(to: "@helper /P now") == ["pong"])
        let npub = room.bob.publicKey.npub
        #expect(
            try await room.answers(to: "/say \"a {name}\" b", from: room.bob)
                == ["a {name}, \"a {name}\" b by \(npub) in the room of 3, helper"])
        #expect(try await room.answers(to: "/say").first?.hasPrefix("nothing,  by npub1") == true)
        #expect(try await room.answers(to: "ping") == [])
        #expect(try await room.answers(to: "/help") == ["/ping: says pong"])
    }

    @Test func fillsCaptureGroupsIntoTexts() async throws {
        let room = try await Room(["when": ["match": "(?i)i am (\\w+)( \\w+)?"], "reply": "hello {1}{2|!} ({0})"])
        #expect(try await room.answers(to: "Well, I am Ann.") == ["hello Ann! (I am Ann)"])
        #expect(try await room.answers(to: "i am Ann Onymous") == ["hello Ann Onymous (i am Ann Onymous)"])
        #expect(try await room.answers(to: "you are Ann") == [])
    }

    @Test func firstMatchingRuleStopsUnlessConfigured() async throws {
        let room = try await Room(
            ["when": ["contains": "A"], "stop": false, "reply": "one"],
            ["when": ["startsWith": "ab"], "stop": false, "reply": "two"], ["when": ["any": true], "reply": "three"],
            ["when": ["any": true], "reply": "four"])
        #expect(try await room.answers(to: "abc") == ["one", "two", "three"])
        #expect(try await room.answers(to: "ca") == ["one", "three"])
        #expect(try await room.answers(to: "x") == ["three"])
    }

    @Test func requiresAllConditions() async throws {
        let room = try await Room(
            ["when": ["mention": true, "contains": "hello"], "reply": "hello"],
            ["when": ["direct": true, "any": true], "reply": "just us"],
            ["when": ["mention": false, "equals": "YES"], "reply": "no"])
        #expect(try await room.answers(to: "hello helper") == ["hello"])
        #expect(try await room.answers(to: "hello") == [])
        #expect(try await room.answers(to: "yes") == ["no"])
        let direct = try await room.bob.create("", inviting: [room.bot])
        try await room.bob.say("hi", in: direct)
        #expect(room.bob.heard(in: direct, from: room.bot) == ["just us"])
    }

    @Test func restrictsRulesToTheirAudience() async throws {
        let room = try await Room(
            ["when": ["command": "stop"], "only": "admins", "reply": "stopped"],
            ["when": ["command": "stop"], "reply": "you may not"])
        #expect(try await room.answers(to: "/stop") == ["stopped"])
        #expect(try await room.answers(to: "/stop", from: room.bob) == ["you may not"])
    }

    @Test func sendsAndHandlesReactions() async throws {
        let room = try await Room(
            ["when": ["equals": "look"], "react": "👀"], ["when": ["reaction": "👍"], "send": "{emoji} by {name}"],
            ["when": ["reaction": "any"], "send": "another"])
        #expect(try await room.answers(to: "look") == [])
        let reactions = room.ann.events.compactMap { event -> String? in
            guard case .message(let message) = event.content, message.kind == .reaction else { return nil }
            return message.content
        }
        #expect(reactions == ["👀"])
        let message = try await room.ann.say("good?", in: room.chat)
        _ = try await room.bob.perform(.sendMessage(chatID: room.chat, .reaction("👍", to: message)))
        _ = try await room.bob.perform(.sendMessage(chatID: room.chat, .reaction("👎", to: message)))
        #expect(
            room.ann.heard(in: room.chat, from: room.bot).suffix(2)
                == ["👍 by \(room.bob.publicKey.npub.prefix(12))", "another"])
    }

    @Test func greetsNewMembers() async throws {
        let room = try await Room(
            ["when": ["joined": "self"], "send": "hello, I am {me}"],
            ["when": ["joined": "others"], "send": "welcome {who}"],
            ["when": ["removed": "others"], "send": "{name} removed {who}"])
        #expect(room.ann.heard(in: room.chat, from: room.bot) == ["hello, I am helper"])
        let cleo = try await room.lab.member("cleo")
        try await room.ann.add([cleo], to: room.chat)
        try await room.ann.remove([cleo], from: room.chat)
        let (ann, third) = (room.ann.publicKey.npub.prefix(12), cleo.publicKey.npub.prefix(12))
        #expect(
            room.ann.heard(in: room.chat, from: room.bot).suffix(2) == ["welcome \(third)", "\(ann) removed \(third)"])
    }

    @Test func schedulesSendToTheirChats() async throws {
        let room = try await Room(
            ["when": ["schedule": ["every": "1h"]], "send": "it is {date} {time} in {chat}"],
            [
                "when": ["schedule": ["cron": "30 * * * *"]], "chats": [.string(String(repeating: "0", count: 64))],
                "send": "nobody hears this",
            ])
        let texts = try await room.botMessages(in: .seconds(2 * 3600))
        #expect(texts == ["it is 2027-01-15 09:00 in the room", "it is 2027-01-15 10:00 in the room"])
    }

    @Test func cooldownsLastAsConfigured() async throws {
        let room = try await Room(
            ["when": ["command": "a"], "cooldown": "1m", "reply": "a"],
            ["when": ["command": "b"], "cooldown": ["for": "1m", "per": "sender"], "reply": "b"])
        #expect(try await room.answers(to: "/a") == ["a"])
        #expect(try await room.answers(to: "/a", from: room.bob) == [])
        #expect(try await room.answers(to: "/b") == ["b"])
        #expect(try await room.answers(to: "/b") == [])
        #expect(try await room.answers(to: "/b", from: room.bob) == ["b"])
        room.bot.crash()
        try await room.bot.restart()
        #expect(try await room.answers(to: "/a") == [])
        try await room.lab.advance(by: .seconds(61))
        #expect(try await room.answers(to: "/a") == ["a"])
    }

    @Test func seededChoicesRepeat() async throws {
        var rounds: [[String]] = []
        for seed in [1, 2] as [UInt64] {
            let room = try await Room(["when": ["any": true], "reply": ["1", "2", "3", "4", "5", "6"]], seed: seed)
            var texts: [String] = []
            for _ in 0..<12 { texts += try await room.answers(to: "roll") }
            rounds.append(texts)
        }
        #expect(rounds[0] == rounds[1])
        #expect(rounds[0].count == 12 && Set(rounds[0]).count > 2)
    }

    @Test func sendsFiles() async throws {
        let room = try await Room(
            ["when": ["command": "cat"], "media": ["file": "cat.png", "caption": "for {args}"]],
            ["when": ["command": "dog"], "media": ["file": "dog.png"]])
        #expect(try await room.answers(to: "/cat you") == ["for you"])
        let sent = try await room.ann.messages(in: room.chat).last
        #expect(sent?.media.map(\.filename) == ["cat.png"])
        #expect(sent?.media.map(\.type) == ["image/png"])
        #expect(try await room.answers(to: "/dog") == ["Sorry, that did not work."])
    }

    @Test func answersCallsWithText() async throws {
        let room = try await Room(["when": ["call": "invite"], "send": "no calls"])
        let direct = try await room.bob.create("", inviting: [room.bot])
        _ = try await room.bob.attempt(
            .startCall(
                chatID: direct,
                session: CallSession(
                    moqURL: "https://calls.example/anon", broadcastBase: "pika/calls/1", tracks: [.audio])))
        #expect(room.bob.heard(in: direct, from: room.bot) == ["no calls"])
    }
}
