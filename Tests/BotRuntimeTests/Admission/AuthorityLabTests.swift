import BotKit
import BotTesting
import LiveTesting
import Logging
import Nostr
import Synchronization
import Testing

@testable import BotDispatch

/// Answers every message, like a careless responder.
private struct Parrot: Bot {
    static let name = "parrot"
    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnMessage { message, context in context.reply("re: \(message.content.prefix(20))") }
    }
}

/// An account with a bot as run by a worker, recreated at each start.
private final class Responder: Sendable {
    let policy: BotPolicy
    let operators: Set<PublicKey>
    private let member = Mutex<LabMember?>(nil)

    init(_ policy: BotPolicy = BotPolicy(), operators: Set<PublicKey> = []) {
        self.policy = policy
        self.operators = operators
    }

    /// The admission of the current run.
    var admission: Admission { member.withLock { $0?.admission } ?? Admission() }

    func ignored(_ reason: IgnoreReason) -> Int {
        admission.journal.ignored.filter { $0.reason == reason.rawValue }.count
    }

    func join(_ lab: GroupLab, as name: String) async throws -> LabMember {
        let place = LabBots.Entry(Parrot(settings: .object([:])), label: "parrot", policy: policy)
        let joined = try await lab.bots(name, LabBots([place], operators: operators))
        member.withLock { $0 = joined }
        return joined
    }
}

@Suite(.bounded)
struct AuthorityLabTests {
    @Test func twoRespondersDoNotLoop() async throws {
        let lab = try GroupLab(seed: 501)
        let (one, two) = (Responder(), Responder())
        let alice = try await lab.member("alice")
        let first = try await one.join(lab, as: "first")
        let second = try await two.join(lab, as: "second")
        let chat = try await alice.create("zoo", inviting: [first, second])
        try await alice.say("hello", in: chat)
        try await lab.settle()
        let answers = alice.heard(in: chat)
        // Both answer Alice, and each other once or twice.
        #expect(answers.filter { $0 == "re: hello" }.count == 2)
        #expect((2...8).contains(answers.count), "\(answers)")
        #expect(one.ignored(.loop) + two.ignored(.loop) >= 1)
        // A person speaks, so the bots answer again.
        try await alice.say("again", in: chat)
        #expect(alice.heard(in: chat).filter { $0 == "re: again" }.count == 2)
    }

    @Test func stopsUnmarkedForeignResponder() async throws {
        let lab = try GroupLab(seed: 502)
        let responder = Responder(BotPolicy(limits: BotLimits(botPair: 1)))
        let alice = try await lab.member("alice")
        let ours = try await responder.join(lab, as: "ours")
        let theirs = try await lab.member("theirs") { event in
            guard case .message(let message) = event.content else { return [] }
            return [
                HandlerEffect(
                    id: "theirs/\(message.id.hex)",
                    operation: .send(chatID: event.chatID, .text("their \(event.inboxID)")))
            ]
        }
        let chat = try await alice.create("zoo", inviting: [ours, theirs])
        try await alice.say("hello", in: chat)
        try await lab.settle()
        let answers = alice.heard(in: chat, from: ours).count
        // One answer to Alice, one to the other bot's first message, and at most ten budgets of replies to its replies.
        #expect((3...2 + LoopBreaker.unmarkedFactor).contains(answers), "\(answers)")
        #expect((1...2).contains(responder.ignored(.loop)))
        // The flood does not count against Alice.
        try await alice.say("and me?", in: chat)
        #expect(alice.heard(in: chat, from: ours).contains("re: and me?"))
    }

    @Test func floodDoesNotStarveOtherSenders() async throws {
        let lab = try GroupLab(seed: 503)
        let responder = Responder(BotPolicy(limits: BotLimits(perSender: Rate(6, per: .minute))))
        let flooder = try await lab.member("flooder")
        let bob = try await lab.member("bob")
        let ours = try await responder.join(lab, as: "ours")
        let chat = try await flooder.create("flood", inviting: [bob, ours])
        for number in 1...1_000 {
            flooder.begin(.sendMessage(chatID: chat, .text("flood \(number)")))
            if number % 250 == 0 {
                try await bob.say("bob \(number)", in: chat)
                try await lab.settle()
            }
        }
        let answers = bob.heard(in: chat, from: ours)
        #expect(answers.filter { $0.hasPrefix("re: flood") }.count == 6)
        #expect(answers.filter { $0.hasPrefix("re: bob") }.count == 4)
        #expect(responder.ignored(.rateLimitedSender) == 994)
        try await lab.advance(by: .seconds(60))
        try await flooder.say("flood late", in: chat)
        #expect(bob.heard(in: chat, from: ours).last == "re: flood late")
    }

    @Test func judgesDemotedAdminByMessageEpoch() async throws {
        let lab = try GroupLab(seed: 504)
        let responder = Responder(BotPolicy(triggers: .admins))
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let ours = try await responder.join(lab, as: "ours")
        let chat = try await alice.create("court", inviting: [bob, ours])
        try await bob.say("as a member", in: chat)
        try await alice.perform(.setGroupAdmins(chatID: chat, admins: [alice.publicKey, bob.publicKey]))
        try await bob.say("as an admin", in: chat)
        try await alice.perform(.setGroupAdmins(chatID: chat, admins: [alice.publicKey]))
        try await bob.say("as a member again", in: chat)
        #expect(alice.heard(in: chat, from: ours) == ["re: as an admin"])
        #expect(responder.ignored(.notAllowed) == 2)
        let journal = responder.admission.journal
        let ignored = try #require(journal.ignored.last { $0.reason == IgnoreReason.notAllowed.rawValue })
        let why = EventExplanation(of: try #require(ignored.id), from: journal)
        #expect(why?.lines.joined().contains("may not trigger this bot") == true)
    }

    @Test func pauseSurvivesRestartUntilResumed() async throws {
        let lab = try GroupLab(seed: 505)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let responder = Responder(operators: [alice.publicKey])
        let ours = try await responder.join(lab, as: "greeter")
        let chat = try await alice.create("work", inviting: [bob, ours])
        try await bob.say("@greeter !!pause", in: chat)
        try await bob.say("one", in: chat)
        try await alice.say("@greeter !!pause parrot", in: chat)
        try await bob.say("two", in: chat)
        ours.crash()
        try await ours.restart()
        try await bob.say("three", in: chat)
        #expect(responder.ignored(.paused) == 1)
        try await alice.say("@greeter !!resume", in: chat)
        try await bob.say("four", in: chat)
        #expect(alice.heard(in: chat, from: ours) == ["re: one", "paused: parrot", "resumed: parrot", "re: four"])
    }
}
