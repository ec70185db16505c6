import BotTesting
import LiveTesting
import Testing

/// A bot that announces withdrawn and restored messages in their group.
private struct WitnessBot: Bot {
    static let name = "witness"
    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnWithdrawn { withdrawn, context in context.send("gone \(withdrawn.id.hex)") }
        OnRestored { restored, context in context.send("back \(restored.id.hex)") }
    }
}

@Suite(.bounded)
struct WithdrawalLabTests {
    private static let settling = Duration.seconds(10)

    /// Alice's branch has one commit, Bob's has two, so that everyone chooses Bob's.
    @Test func botLearnsOfWithdrawnMessages() async throws {
        let lab = try GroupLab(seed: 11, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let bot = try await lab.bot(WitnessBot.self)
        let chat = try await bob.create("lab", inviting: [alice, bot], groupProtocol: .v2)
        try await lab.advance(by: Self.settling)

        lab.network.cutOff("bob", from: lab.relays[0])
        for name in ["alice", WitnessBot.name] { lab.network.cutOff(name, from: lab.relays[1]) }
        alice.begin(.updateGroupKeys(chatID: chat))
        try await lab.advance(by: Self.settling)
        let message = try await alice.say("on the losing branch", in: chat)
        for name in ["one", "two"] {
            bob.begin(.renameGroup(chatID: chat, name: name))
            try await lab.advance(by: Self.settling)
        }
        #expect(bot.withdrawals.isEmpty && bot.heard(in: chat, from: alice) == ["on the losing branch"])

        lab.network.heal()
        for _ in 1...3 { try await lab.advance(by: Self.settling) }
        // Alice's client sends the message again on Bob's branch.
        #expect(bot.withdrawals.map(\.id) == [message, message])
        #expect(bot.withdrawals.map(\.isRestored) == [false, true])
        #expect(bob.heard(in: chat, from: bot) == ["gone \(message.hex)", "back \(message.hex)"])
        #expect(bob.heard(in: chat, from: alice) == ["on the losing branch"])
        #expect(try await bot.summary(of: chat)?.name == "two")
    }
}
