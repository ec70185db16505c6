import BotKit
import BotTesting
import Testing

@testable import ResponderBot

/// Webhooks and programs, as seen by a group.
struct OutsideLabTests {
    @Test func webhookReceivesTheEvent() async throws {
        let world = FakeWorld { _, _ throws(BotError) in .ok("  done\n") }
        let room = try await Room(
            [
                "when": ["command": "tell"],
                "webhook": [
                    "url": "https://api.example/hook", "token": ["env": "HOOK"], "headers": ["X-Mode": "quiet"],
                    "timeout": "3s",
                ],
            ], world: world)
        #expect(try await room.answers(to: "/tell a \"b c\"", from: room.bob) == ["done"])
        let request = try #require(world.requests.first)
        #expect(request.method == "POST")
        #expect(request.url == "https://api.example/hook")
        #expect(request.timeout == .seconds(3))
        #expect(!request.reachesPrivateAddresses)
        #expect(request.header("Authorization") == "secret of HOOK")
        #expect(request.header("X-Mode") == "quiet")
        let document = try #require(request.document)
        #expect(request.header("Idempotency-Key") == document["delivery"]?.string)
        #expect(document["version"] == 1)
        #expect(document["account"] == "helper")
        #expect(document["rule"] == "tell")
        let event = try #require(document["event"])
        #expect(event["type"] == "message")
        #expect(event["kind"] == 9)
        #expect(event["text"] == "/tell a \"b c\"")
        #expect(event["command"] == "tell")
        #expect(event["arguments"] == "a \"b c\"")
        #expect(event["pieces"] == ["a", "b c"])
        #expect(event["sender"]?["npub"]?.string == room.bob.publicKey.npub)
        let chat: JSONValue = ["id": .string(room.chat.rawValue), "name": "the room", "group": true, "members": 3]
        #expect(document["chats"] == [chat])
    }

    @Test func fillsInAnswersAndEncodesURLs() async throws {
        let world = FakeWorld { request, _ throws(BotError) in
            .ok(request.url.hasSuffix("?q=a%26b%2F..%2F%7Bname%7D") ? "fine {name}" : "asked \(request.url)")
        }
        let room = try await Room(
            [
                "when": ["command": "get"],
                "do": [
                    ["webhook": ["url": "https://api.example/?q={args}", "method": "GET", "answer": "keep"]],
                    ["reply": "it is {answer}"],
                ],
            ], world: world)
        #expect(try await room.answers(to: "/get a&b/../{name}") == ["it is fine {name}"])
        #expect(world.requests.first?.body == [])
    }

    @Test func usersCannotChangeWebhookPaths() async throws {
        let world = FakeWorld { _, _ throws(BotError) in .ok("fine") }
        let room = try await Room(
            [
                "when": ["command": "get"],
                "webhook": ["url": "https://api.example/public/{1}/{2|all}", "method": "GET"],
            ], world: world)
        #expect(try await room.answers(to: "/get ..") == ["Sorry, that did not work."])
        #expect(try await room.answers(to: "/get x ../../admin") == ["Sorry, that did not work."])
        #expect(world.requests.isEmpty)
        #expect(try await room.answers(to: "/get a..b") == ["fine"])
        #expect(world.requests.map(\.url) == ["https://api.example/public/a..b/all"])
    }

    @Test(arguments: [
        BotHTTPResponse(status: 500, body: Array("internal trace".utf8)), BotHTTPResponse(status: 302, body: []),
        BotHTTPResponse(status: 404, body: []),
    ])
    func reportsFailuresInWords(_ response: BotHTTPResponse) async throws {
        let room = try await Room(
            ["when": ["command": "a"], "do": [["webhook": ["url": "https://api.example/"]], ["reply": "never"]]],
            ["when": ["command": "b"], "failure": "Alas, {name}.", "webhook": ["url": "https://api.example/"]],
            ["when": ["command": "c"], "failure": "none", "webhook": ["url": "https://api.example/"]],
            world: FakeWorld { _, _ throws(BotError) in response })
        #expect(try await room.answers(to: "/a") == ["Sorry, that did not work."])
        #expect(try await room.answers(to: "/b") == ["Alas, {name}."])
        #expect(try await room.answers(to: "/c") == [])
    }

    @Test func emptyAnswersAreNotSent() async throws {
        let room = try await Room(
            ["when": ["any": true], "webhook": ["url": "https://api.example/"]],
            world: FakeWorld { _, _ throws(BotError) in .ok(" \n") })
        #expect(try await room.answers(to: "x") == [])
    }

    @Test func programsReceiveOnlyTheDocument() async throws {
        let world = FakeWorld(shell: { program throws(BotError) in
            let document = try? JSONValue(json: program.input)
            return "\(document?["event"]?["arguments"]?.string ?? "?")!"
        })
        let room = try await Room(
            [
                "when": ["command": "shout"],
                "run": ["command": ["shout.py", "-v"], "environment": ["MODE": "loud", "TOKEN": ["env": "T"]]],
            ], world: world)
        #expect(try await room.answers(to: "/shout $(id) --help") == ["$(id) --help!"])
        #expect(world.programs.first?.command == ["shout.py", "-v"])
        #expect(world.programs.first?.environment == ["MODE": "loud", "TOKEN": "secret of T"])
    }
}
