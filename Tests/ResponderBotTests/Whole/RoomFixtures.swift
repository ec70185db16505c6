import BotTesting
import PikaCore

@testable import ResponderBot

/// A group of Ann, its founder, Bob, and a responder.
struct Room {
    let lab: GroupLab
    let ann: LabMember
    let bob: LabMember
    let bot: LabMember
    let chat: ChatID

    init(_ rules: BotSettings..., world: FakeWorld = FakeWorld(), seed: UInt64 = 1) async throws {
        lab = try GroupLab(seed: seed)
        ann = try await lab.member("ann")
        bob = try await lab.member("bob")
        let settings: BotSettings = ["allow": ["api.example"], "seed": 7, "rules": .array(rules)]
        bot = try await lab.bot(ResponderBot.self, name: "helper", settings: settings, services: world.services)
        chat = try await ann.create("the room", inviting: [bob, bot])
    }

    /// Sends a message and returns the bot's answers that Ann receives.
    func answers(to text: String, from sender: LabMember? = nil) async throws -> [String] {
        let before = ann.heard(in: chat, from: bot).count
        try await (sender ?? ann).say(text, in: chat)
        return Array(ann.heard(in: chat, from: bot).dropFirst(before))
    }

    /// Returns the bot's messages that Ann receives in this time.
    func botMessages(in duration: Duration) async throws -> [String] {
        let before = ann.heard(in: chat, from: bot).count
        try await lab.advance(by: duration)
        return Array(ann.heard(in: chat, from: bot).dropFirst(before))
    }
}
