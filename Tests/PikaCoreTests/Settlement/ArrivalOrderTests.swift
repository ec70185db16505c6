import BotTesting
import Foundation
import MLS
import Nostr
import Testing

@testable import Marmot
@testable import PikaCore

/// The same set of events ends in the same state at every member that only reads, in any order and with any pauses
/// between them. (The authors react to events by sending others.)
@Suite struct ArrivalOrderTests {
    /// `PIKABOT_SEEDS=1000` tries 1,000 orders at each member.
    private static let orders: Int = {
        let text = ProcessInfo.processInfo.environment["PIKABOT_SEEDS"] ?? ""
        return text.contains("-") ? 12 : max(1, Int(text) ?? 12)
    }()

    /// The result, which must not depend on the order.
    private struct Outcome: Equatable, CustomStringConvertible {
        let authenticator: [UInt8]
        let name: String
        let texts: [String]

        var description: String { "\"\(self.name)\" with \(self.texts)" }
    }

    /// A group whose events are handed out by the test.
    private struct Post {
        let lab: GroupLab
        let chat: ChatID

        /// Performs an action of a member, without delivery to the others. Returns its events, which a relay has
        /// accepted.
        func publish(_ member: LabMember, _ action: AppAction) async throws -> [Event] {
            member.begin(action)
            try await self.lab.settle()
            let events = self.lab.network.heldPublications.map(\.event)
            for event in events { self.lab.network.answerHeld(event.id, .accepted) }
            try await self.lab.settle()
            return events
        }

        func hand(_ event: Event, to member: LabMember) async throws {
            self.lab.network.hand(event, to: member.name, at: self.lab.relay)
            try await self.lab.settle()
        }

        func say(_ member: LabMember, _ text: String) async throws -> [Event] {
            try await self.publish(member, .sendMessage(chatID: self.chat, .text(text)))
        }
    }

    @Test func orderOfArrivalDecidesNothing() async throws {
        let lab = try GroupLab(seed: 31, groupProtocol: .v2)
        var members: [LabMember] = []
        for name in ["alice", "bob", "carol", "dora", "emil", "fay"] { members.append(try await lab.member(name)) }
        let chat = try await members[0].create("order", inviting: Array(members.dropFirst()))
        lab.network.onPublish { $0.event.kind == .groupEvent ? .hold : .deliver }
        let post = Post(lab: lab, chat: chat)
        let appointment = try await post.publish(
            members[0], .setGroupAdmins(chatID: chat, admins: members[..<3].map(\.publicKey)))
        for member in members.dropFirst() {
            for event in appointment { try await post.hand(event, to: member) }
        }
        try await lab.advance(by: .seconds(5))
        // Two branches of two commits and one of one, with messages on each, and one before them.
        var events: [(author: String, event: Event)] = []
        func add(_ member: LabMember, _ new: [Event]) { events += new.map { (author: member.name, event: $0) } }
        add(members[3], try await post.say(members[3], "before"))
        for member in members[..<2] {
            for number in 1...2 {
                let name = "\(member.name) \(number)"
                add(member, try await post.publish(member, .renameGroup(chatID: chat, name: name)))
                add(member, try await post.say(member, name))
            }
        }
        add(members[2], try await post.publish(members[2], .updateGroupKeys(chatID: chat)))
        add(members[2], try await post.say(members[2], "carol 1"))
        #expect(events.count == 11)

        var outcomes: Set<[UInt8]> = []
        for member in members[3...] {
            let base = member.store.snapshot()
            let foreign = events.filter { $0.author != member.name }.map(\.event)
            var first: Outcome?
            for order in 0..<Self.orders {
                member.crash()
                try await member.restart(from: base.snapshot())
                let outcome = try await self.feed(foreign, to: member, post, order: UInt64(order))
                if let first { #expect(outcome == first, "\(member.name), order \(order)") }
                first = first ?? outcome
                outcomes.insert(outcome.authenticator)
            }
        }
        #expect(outcomes.count == 1)
    }

    /// Hands events to a member in a random order and at random times; returns its final state.
    private func feed(
        _ events: [Event], to member: LabMember, _ post: Post, order: UInt64
    ) async throws -> Outcome {
        var random = SeededGenerator(seed: order, stream: "order")
        let start = member.events.count
        let ordered = order == 0 ? events : events.shuffled(using: &random)
        for event in ordered {
            try await post.hand(event, to: member)
            let pause = Int.random(in: 0..<10, using: &random)
            if pause > 6 { try await post.lab.advance(by: .milliseconds(pause * 200)) }
        }
        try await post.lab.advance(by: .seconds(30))
        let group = try #require(try await member.secondGroup(of: post.chat))
        return Outcome(
            authenticator: group.tip.mls.epochAuthenticator.copyBytes(), name: group.tip.name,
            texts: member.visibleTexts(in: post.chat, since: start).sorted())
    }
}
