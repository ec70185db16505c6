import BotTesting
import Errors
import Foundation
import LiveTesting
import NotesBot
import Testing

@testable import BotKit

/// The samples of docs/bot-services.md as a bot.
private struct ShopBot: Bot {
    static let name = "shop"
    init(settings: BotSettings) {}

    private actor Orders {
        private(set) var received: [BotConnectionMessage] = []
        func receive(_ message: BotConnectionMessage) { received.append(message) }
    }

    private let orders = Orders()

    var handlers: [Handler] {
        OnStart { context in
            _ = try context.services.outbox("ratings")
            let orders = orders
            try context.services.connect(
                "events", BotConnectionRequest(url: "wss://shop.example/events"),
                BotConnectionHandlers(
                    onConnect: { [.text("subscribe orders")] }, onMessage: { message in await orders.receive(message) })
            )
        }
        OnMessage { message, context in
            let (word, text) = Self.split(message.content)
            switch word {
            case "token":
                try await context.services.vault.set(BotSecret(text), for: "shop.token")
                context.reply("stored")
            case "names": context.reply(try await context.services.vault.names().joined(separator: " "))
            case "rate":
                let outbox = try context.services.outbox("ratings")
                try await outbox.add(
                    OutboxRequest(
                        BotHTTPRequest(url: "https://shop.example/ratings", body: Array(text.utf8)),
                        idempotencyKey: context.idempotencyKey("rating"), orderKey: "ratings",
                        expires: context.now + 3_600))
                context.reply("will rate")
            case "orders": context.reply("\(await orders.received.count)")
            case "account":
                let shop = try Self.shop(context)
                let response = try await shop.send(BotHTTPRequest(method: "GET", url: "https://shop.example/me"))
                context.reply("\(response.status)")
            default: context.reply(try await Self.find(text, context))
            }
        }
    }

    private static func split(_ text: String) -> (word: String, rest: String) {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count == 2 ? parts[1] : "")
    }

    private static func find(_ text: String, _ context: BotContext) async throws -> String {
        let menu = try await context.services.database(
            "menu", .plain, migrations: [["CREATE VIRTUAL TABLE dish USING fts5(name, tokenize = 'unicode61')"]])
        try await menu.execute("INSERT INTO dish VALUES (?)", [.text(text)])
        let found = try await menu.rows("SELECT name FROM dish WHERE dish MATCH ?", [.text("dosa")])
        return found.compactMap { $0.text("name") }.joined(separator: ", ")
    }

    static func shop(_ context: BotContext) throws -> TokenPipeline {
        let shop = try context.services.tokens("shop") { refresh, http in
            let answer = try await http.send(
                BotHTTPRequest(url: "https://shop.example/token", body: refresh.withBytes { Array($0) }))
            guard answer.status == 200 else { return .refused }
            let parts = String(decoding: answer.body, as: UTF8.self).split(separator: " ").map(String.init)
            guard parts.count == 2 else { throw BotError(.requestFailed, "expected two tokens") }
            return .renewed(TokenPair(access: BotSecret(parts[0]), refresh: BotSecret(parts[1])))
        }
        return shop
    }
}

@Suite(.bounded)
struct BotServicesLabTests {
    private func say(_ text: String, _ alice: LabMember, in chat: ChatID, _ lab: GroupLab) async throws {
        alice.begin(.sendMessage(chatID: chat, OutgoingMessage(content: text)))
        try await lab.advance(by: .seconds(5))
    }

    @Test func findsNotesOfTheChat() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lab-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lab = try GroupLab(seed: 42)
        let alice = try await lab.member("alice")
        var bots = LabBots([LabBots.Entry(try NotesBot(settings: .object([:])), label: "notes")])
        bots.databaseFolder = folder
        let bot = try await lab.bots("notes", bots)
        let chat = try await alice.create("lab", inviting: [bot])
        try await lab.advance(by: .seconds(10))
        for text in ["/note buy rice and \"dal\"", "/note call Ravi", "/find rice", "/find OR", "/find \"dal\""] {
            try await say(text, alice, in: chat, lab)
        }
        let heard = alice.heard(in: chat, from: bot)
        #expect(heard.count == 5)
        #expect(heard.prefix(4) == ["kept", "kept", "buy rice and \"dal\"", "nothing found"])
    }

    @Test func botsUseAllServices() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lab-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let http = ScriptedHTTP { _, number in
            BotHTTPResponse(status: number == 1 ? 503 : 201, body: [])
        }
        let connections = ScriptedConnections()
        let lab = try GroupLab(seed: 41)
        let alice = try await lab.member("alice")
        var bots = LabBots(
            [LabBots.Entry(ShopBot(settings: .object([:])), label: "shop")],
            services: BotServices(http: http, connections: connections))
        bots.databaseFolder = folder
        let bot = try await lab.bots("shop", bots)
        let chat = try await alice.create("lab", inviting: [bot])
        try await lab.advance(by: .seconds(10))

        try await say("token s3cret", alice, in: chat, lab)
        try await say("names", alice, in: chat, lab)
        try await say("menu Masala Dosa", alice, in: chat, lab)
        try await say("rate 5", alice, in: chat, lab)
        try await lab.advance(by: .seconds(10))
        let heard = alice.heard(in: chat, from: bot)
        #expect(heard == ["stored", "shop.token", "Masala Dosa", "will rate"])
        // Both attempts carry one key.
        let keys = http.requests.map { request in request.headers.first { $0.name == "Idempotency-Key" }?.value }
        #expect(keys.count == 2)
        #expect(Set(keys).count == 1)

        let connection = try #require(connections.connections.first)
        await connection.connect()
        #expect(connection.sent == [.text("subscribe orders")])
        await connection.deliver(.text("order 1"))
        try await say("orders", alice, in: chat, lab)
        let last = alice.heard(in: chat, from: bot).last
        #expect(last == "1")
    }
}
