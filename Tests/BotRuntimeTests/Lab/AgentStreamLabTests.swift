import BotTesting
import LiveTesting
import Nostr
import Testing

/// A bot that announces the beginnings and ends of streams in their group.
private struct StreamBot: Bot {
    static let name = "streams"
    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnAgentStream { stream, _, context in context.send("\(stream.id) \(stream.isComplete ? "ends" : "begins")") }
        OnMessage { message, context in context.send("chat \(message.content)") }
    }
}

@Suite(.bounded)
struct AgentStreamLabTests {
    @Test(arguments: [GroupProtocol.v1, .v2])
    func botHandlesBothEndsOfStream(_ groupProtocol: GroupProtocol) async throws {
        let lab = try GroupLab(seed: 12)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(StreamBot.self)
        let chat = try await alice.create("lab", inviting: [bot], groupProtocol: groupProtocol)
        try await lab.advance(by: .seconds(10))
        let stream = Nostr.Tag("stream", "aa")
        for message in [
            OutgoingMessage(kind: .agentStreamStart, content: "", tags: [stream]),
            OutgoingMessage(content: "the whole text", tags: [stream]),
            OutgoingMessage(content: "hi"),
        ] {
            alice.begin(.sendMessage(chatID: chat, message))
            try await lab.advance(by: .seconds(2))
        }
        #expect(alice.heard(in: chat, from: bot) == ["aa begins", "aa ends", "chat hi"])
    }
}
