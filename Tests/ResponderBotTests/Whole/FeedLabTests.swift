import BotKit
import BotTesting
import PikaCore
import Testing

@testable import ResponderBot

struct FeedLabTests {
    /// A room whose responder has these rules; each is for the room unless it names chats.
    private func room(_ rules: [String: BotSettings]..., world: FakeWorld = FakeWorld()) async throws -> Room {
        let room = try await Room(["when": ["command": "x"], "reply": "y"], world: world)
        let chats: BotSettings = [.string(room.chat.rawValue)]
        let all = rules.map { BotSettings.object(["chats": chats].merging($0) { $1 }) }
        let settings: BotSettings = ["allow": ["api.example"], "seed": 7, "rules": .array(all)]
        try await room.bot.reconfigure([LabBots.Entry(try ResponderBot(settings: settings), label: "responder")])
        return room
    }

    private func posted(_ room: Room, _ payload: String, feed: String = "orders", id: String = "1") async throws
        -> [String]
    {
        let before = room.ann.heard(in: room.chat, from: room.bot).count
        try await room.bot.receive(FeedItem(feed: feed, id: id, payload: Array(payload.utf8)))
        return Array(room.ann.heard(in: room.chat, from: room.bot).dropFirst(before))
    }

    @Test func fillsTextsFromJSON() async throws {
        let room = try await room([
            "when": ["feed": "orders"],
            "send":
                "{feed}: {item.total} € for {item.lines.0.name} by {item.customer.name|somebody} {item.paid} {item.none}",
        ])
        let order = #"{"total": 12.5, "lines": [{"name": "dosa"}], "customer": {}, "paid": true, "none": null}"#
        #expect(try await posted(room, order) == ["orders: 12.5 € for dosa by somebody true"])
        #expect(try await posted(room, "[]", id: "2") == ["orders:  € for  by somebody"])
        #expect(try await posted(room, order, feed: "others") == [])
    }

    @Test func plainPayloadIsText() async throws {
        let room = try await room(["when": ["feed": "orders"], "send": "new: {text}"])
        #expect(try await posted(room, "three dosas") == ["new: three dosas"])
        // A value is never a template.
        #expect(try await posted(room, "{me}", id: "2") == ["new: {me}"])
    }

    @Test func itemIsHandledOnce() async throws {
        let room = try await room(["when": ["feed": "orders"], "send": "{text}"])
        #expect(try await posted(room, "a") == ["a"])
        #expect(try await posted(room, "a") == [])
    }

    @Test func laterRulesFollowUnlessStopped() async throws {
        let room = try await room(
            ["when": ["feed": "orders"], "stop": false, "send": "one"], ["when": ["feed": "orders"], "send": "two"],
            ["when": ["feed": "orders"], "send": "three"])
        #expect(try await posted(room, "a") == ["one", "two"])
    }

    @Test func otherChatsGetNothing() async throws {
        let room = try await room(["when": ["feed": "orders"], "send": "{text}"])
        let other = try await room.ann.create("other", inviting: [room.bot])
        #expect(try await posted(room, "a") == ["a"])
        #expect(room.ann.heard(in: other, from: room.bot) == [])
    }

    @Test func webhookGetsItem() async throws {
        let world = FakeWorld(web: { _, _ throws(BotError) in .ok("thanks") })
        let room = try await room(
            ["when": ["feed": "orders"], "webhook": ["url": "https://api.example/{item.id}"]], world: world)
        #expect(try await posted(room, #"{"id": "a/b"}"#) == ["thanks"])
        let request = try #require(world.requests.first)
        #expect(request.url == "https://api.example/a%2Fb")
        let event = try #require(request.document?["event"])
        #expect(event["type"]?.string == "feed" && event["feed"]?.string == "orders")
        #expect(event["text"]?.string == #"{"id": "a/b"}"#)
    }

    @Test(
        arguments: [
            (["when": ["feed": "orders"], "send": "x"], "chats: expected the chats of a feed's items"),
            (
                ["when": ["feed": "orders"], "send": "x", "only": "admins", "chats": ["0011223344556677"]],
                "only: expected no only for a feed"
            ),
            (["when": ["any": true], "send": "{item.total}"], "found {item.total}"),
            (
                ["when": ["feed": "orders"], "reply": "{item..total}", "chats": ["0011223344556677"]],
                "found {item..total}"
            ),
            (
                ["when": ["feed": "orders", "match": "x"], "send": "x", "chats": ["0011223344556677"]],
                "one kind of event"
            ),
        ] as [(BotSettings, String)])
    func wrongRulesAreExplained(_ rule: BotSettings, _ expected: String) {
        let error = #expect(throws: BotSettingsError.self) {
            try ResponderSettings(["rules": .array([rule])])
        }
        #expect(error.map { "\($0)".contains(expected) } == true, "\(String(describing: error))")
    }
}
