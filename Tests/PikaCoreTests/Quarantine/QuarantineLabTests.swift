import BotTesting
import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

/// Members whose process crashes at a chosen event, group or row, for each stage: the account survives without it.
@Suite(.bounded)
struct QuarantineLabTests {
    private struct World {
        let lab: GroupLab
        let alice: LabMember
        let bob: LabMember
        let chat: ChatID
        let other: ChatID

        init(seed: UInt64) async throws {
            lab = try GroupLab(seed: seed)
            alice = try await lab.member("alice")
            bob = try await lab.member("bob") { event in
                guard case .message(let message) = event.content, message.content.hasPrefix("ask") else { return [] }
                let answer = OutgoingMessage(content: "answer to \(message.content)")
                return [HandlerEffect(id: "a/\(event.inboxID)", operation: .send(chatID: event.chatID, answer))]
            }
            chat = try await alice.create("lab", inviting: [bob])
            other = try await alice.create("other", inviting: [bob])
        }

        /// Executes an operator's order.
        func order(_ order: QuarantineOrder, _ subject: CrashSubject) async throws {
            bob.core.mailbox.send(.quarantine(order, subject, RequestID(rawValue: "order")))
            try await lab.settle()
        }

        func answers(_ chat: ChatID) -> [String] { alice.heard(in: chat, from: bob) }
    }

    /// The id of the event with Alice's latest message, as stored on relays.
    private func newest(_ world: World) throws -> String {
        try #require(world.lab.network.events(at: world.lab.relays[0]).last { $0.kind == .groupEvent }).id.hex
    }

    @Test(arguments: [CrashStage.ingest, .reduce])
    func quarantinesDeadlyEvent(stage: CrashStage) async throws {
        let world = try await World(seed: 31)
        world.bob.crash()
        try await world.alice.say("ask poison", in: world.chat)
        let id = try newest(world)
        world.bob.trap(at: stage, of: id)
        try await world.bob.restart()
        #expect(try await world.bob.heal() == 2)
        #expect(world.bob.core.quarantine.map(\.subject.description) == ["event/\(id)"])
        for chat in [world.chat, world.other] { try await world.alice.say("ask \(chat.rawValue.prefix(2))", in: chat) }
        #expect(world.answers(world.chat) == ["answer to ask \(world.chat.rawValue.prefix(2))"])
        #expect(world.answers(world.other) == ["answer to ask \(world.other.rawValue.prefix(2))"])
        // The quarantine survives a restart, and the event is kept for a release.
        world.bob.crash()
        try await world.bob.restart()
        #expect(!world.bob.hasCrashed && world.bob.core.quarantine.first?.content != nil)
        world.bob.trap(at: nil)
        let entry = try #require(world.bob.core.quarantine.first)
        try await world.order(.release, entry.subject)
        #expect(world.bob.core.quarantine.isEmpty)
        #expect(world.answers(world.chat).last == "answer to ask poison")
    }

    @Test func requarantinesEventThatCrashesAgain() async throws {
        let world = try await World(seed: 32)
        world.bob.crash()
        try await world.alice.say("ask poison", in: world.chat)
        let id = try newest(world)
        world.bob.trap(at: .ingest, of: id)
        try await world.bob.restart()
        #expect(try await world.bob.heal() == 2)
        try await world.lab.settle()
        let entry = try #require(world.bob.core.quarantine.first)
        try await world.order(.release, entry.subject)
        #expect(world.bob.hasCrashed)
        #expect(try await world.bob.heal() == 1)
        #expect(world.bob.core.quarantine.first?.deaths == 3)
        try await world.order(.drop, entry.subject)
        #expect(world.bob.core.quarantine.isEmpty)
        world.bob.trap(at: nil)
        world.bob.crash()
        try await world.bob.restart()
        #expect(world.answers(world.chat).isEmpty, "a dropped event must not be delivered")
    }

    @Test func deadlyWriteIsSkipped() async throws {
        let world = try await World(seed: 33)
        world.bob.trap(at: .store, of: "message/")
        try await world.alice.say("ask one", in: world.chat)
        // The first crash is attributed to the whole pass, not to a part.
        #expect(!world.bob.hasCrashed, "parts must not be distinguished before the first crash")
        world.bob.trap(at: .store, of: "store")
        try await world.alice.say("ask two", in: world.chat)
        #expect(world.bob.hasCrashed)
        world.bob.trap(at: .store, of: "message/")
        #expect(try await world.bob.heal() == 3)
        #expect(world.bob.core.quarantine.first?.subject.kind == .change)
        world.bob.trap(at: nil)
        try await world.alice.say("ask three", in: world.other)
        #expect(world.answers(world.other) == ["answer to ask three"])
        #expect(world.answers(world.chat).contains("answer to ask two"))
    }

    @Test(arguments: [CrashStage.read, .restore])
    func deadlyInboxRowIsSkipped(stage: CrashStage) async throws {
        let world = try await World(seed: 34)
        // An unfinished row: the process crashes before its answer is stored.
        world.bob.crash(.after(commit: world.bob.store.commitCount + 1))
        try await world.alice.say("ask one", in: world.chat)
        #expect(world.bob.hasCrashed)
        let row = "inbox/\(try #require(world.bob.storedInbox.last).id)"
        // The first crash is anywhere in the pass, the next two at the row.
        world.bob.trap(at: stage, of: stage.rawValue)
        try await world.bob.restart()
        #expect(world.bob.hasCrashed)
        world.bob.trap(at: stage, of: row)
        #expect(try await world.bob.heal() == 3)
        #expect(world.bob.core.quarantine.map(\.subject.name) == [row])
        try await world.alice.say("ask two", in: world.chat)
        #expect(world.answers(world.chat) == ["answer to ask two"])
        let subject = try #require(world.bob.core.quarantine.first?.subject)
        world.bob.trap(at: nil)
        try await world.order(.release, subject)
        world.bob.crash()
        try await world.bob.restart()
        #expect(world.bob.core.quarantine.isEmpty)
        #expect(world.answers(world.chat).contains("answer to ask one"))
    }

    @Test func deadlyGroupIsSkipped() async throws {
        let world = try await World(seed: 35)
        let groupID = try #require(world.bob.store.groupKeys.first)
        let subject = CrashSubject.group(GroupID(groupID.dropFirst()))
        world.bob.trap(at: .restore, of: "restore")
        world.bob.crash()
        try await world.bob.restart()
        world.bob.trap(at: .restore, of: subject.name)
        #expect(try await world.bob.heal() == 3)
        #expect(world.bob.core.quarantine.map(\.subject) == [subject])
        for chat in [world.chat, world.other] { try await world.alice.say("ask", in: chat) }
        #expect(world.answers(world.chat).isEmpty && world.answers(world.other) == ["answer to ask"])
        // The group is back after a release and a restart, with the messages sent meanwhile.
        world.bob.trap(at: nil)
        try await world.order(.release, subject)
        world.bob.crash()
        try await world.bob.restart()
        #expect(world.bob.core.quarantine.isEmpty)
        #expect(world.answers(world.chat) == ["answer to ask"])
    }

    @Test func droppedGroupCanBeRejoined() async throws {
        let world = try await World(seed: 36)
        let groupID = try #require(world.bob.store.groupKeys.first)
        let subject = CrashSubject.group(GroupID(groupID.dropFirst()))
        world.bob.trap(at: .restore, of: "restore")
        world.bob.crash()
        try await world.bob.restart()
        world.bob.trap(at: .restore, of: subject.name)
        #expect(try await world.bob.heal() == 3)
        try await world.order(.drop, subject)
        #expect(!world.bob.store.groupKeys.contains(groupID))
        world.bob.trap(at: nil)
        world.bob.crash()
        try await world.bob.restart()
        #expect(world.bob.core.quarantine.isEmpty && !world.bob.hasCrashed)
    }

    @Test func quarantinesDeadlyHandlerEffect() async throws {
        let world = try await World(seed: 37)
        world.bob.trap(at: .reduce, of: "inbox/")
        try await world.alice.say("ask one", in: world.chat)
        #expect(try await world.bob.heal() == 2)
        #expect(world.bob.core.quarantine.first?.subject.kind == .row)
        world.bob.trap(at: nil)
        try await world.alice.say("ask two", in: world.chat)
        #expect(world.answers(world.chat) == ["answer to ask two"])
    }

    @Test func strangersCannotCrashRepeatedly() async throws {
        let world = try await World(seed: 38)
        let mallory = try await world.lab.member("mallory")
        var deaths = 0
        for number in 0..<4 {
            world.bob.trap(at: .ingest)
            _ = try? await mallory.create("trap \(number)", inviting: [world.bob])
            world.bob.trap(at: .ingest, of: "none")
            // All of Mallory's gift wraps crash the process.
            let wraps = world.lab.network.events(at: world.lab.relays[0]).filter { $0.kind == .giftWrap }
            world.bob.trap(at: .ingest, of: try #require(wraps.last).id.hex)
            deaths += try await world.bob.heal()
        }
        #expect(deaths <= 4)
        #expect(world.bob.core.quarantine.contains { $0.subject == .giftWraps })
        world.bob.trap(at: nil)
        try await world.alice.say("ask", in: world.chat)
        #expect(world.answers(world.chat) == ["answer to ask"])
    }
}
