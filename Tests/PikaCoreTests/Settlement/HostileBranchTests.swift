import BotTesting
import MLS
import Nostr
import Testing

@testable import Marmot
@testable import PikaCore

/// Attacks on the choice between branches by a member that publishes and withholds commits: the honest members agree,
/// and each account counts once.
@Suite struct HostileBranchTests {
    private final class Scene {
        let lab: GroupLab
        let honest: [LabMember]
        let chat: ChatID
        var adversary: BranchAdversary

        var alice: LabMember { self.honest[0] }
        var now: UnixTime { self.lab.clock.now }

        /// - Parameter isAdmin: whether the adversary is an admin.
        init(seed: UInt64, isAdmin: Bool) async throws {
            let lab = try GroupLab(seed: seed, groupProtocol: .v2)
            var adversary = try BranchAdversary(seed: seed, relays: lab.relays, now: lab.clock.now)
            for event in adversary.invitation { lab.network.inject(event, at: lab.relay) }
            var honest: [LabMember] = []
            for name in ["alice", "bob", "carol"] { honest.append(try await lab.member(name)) }
            let peers = honest.dropFirst().map(\.publicKey) + [adversary.keys.publicKey]
            guard
                case .done(let chat?) = try await honest[0].perform(.createGroupChat(name: "honest", peers: peers))
            else { throw LabError(.unmet, "the group was not founded") }
            if isAdmin {
                try await honest[0].perform(
                    .setGroupAdmins(chatID: chat, admins: [honest[0].publicKey, adversary.keys.publicKey]))
            }
            try await lab.advance(by: .seconds(10))
            try adversary.follow(lab.network.events(at: lab.relay))
            (self.lab, self.honest, self.chat, self.adversary) = (lab, honest, chat, adversary)
        }

        func follow() throws { try self.adversary.follow(self.lab.network.events(at: self.lab.relay)) }

        func publish(_ events: [Event]) async throws {
            for event in events { self.lab.network.inject(event, at: self.lab.relay) }
            try await self.lab.settle()
        }

        func rename(_ name: String) async throws {
            try await self.alice.perform(.renameGroup(chatID: self.chat, name: name))
            try await self.lab.advance(by: .seconds(10))
        }

        /// Requires that all honest members are in the same settled state; returns it.
        func agreement() async throws -> ComponentGroup {
            try await self.lab.advance(by: .seconds(60))
            var first: ComponentGroup?
            for member in self.honest {
                let group = try #require(try await member.secondGroup(of: self.chat))
                #expect(group.isActive && group.convergence.status == .settled, "\(member.name)")
                if let first {
                    #expect(first.mls.epochAuthenticator == group.tip.mls.epochAuthenticator, "\(member.name)")
                }
                first = first ?? group.tip
            }
            return try #require(first)
        }
    }

    @Test func branchWithheldTooLongIsDropped() async throws {
        let scene = try await Scene(seed: 41, isAdmin: false)
        let withheld = try scene.adversary.branch(4, from: try scene.adversary.newest(), now: scene.now)
        for number in 0..<7 { try await scene.rename("name \(number)") }
        let before = try await scene.agreement()
        try await scene.publish(withheld)
        let after = try await scene.agreement()
        #expect(after.mls.epochAuthenticator == before.mls.epochAuthenticator)
    }

    @Test func disclosedBranchWithdrawsNothingForGood() async throws {
        let scene = try await Scene(seed: 42, isAdmin: false)
        let withheld = try scene.adversary.branch(4, from: try scene.adversary.newest(), now: scene.now)
        try await scene.rename("lost")
        for member in scene.honest { try await member.say("from \(member.name)", in: scene.chat) }
        try await scene.publish(withheld)
        let tip = try await scene.agreement()
        // The longer branch wins; the undone commits are made again, the withdrawn messages sent again.
        #expect(tip.name == "lost")
        for receiver in scene.honest {
            let others = scene.honest.filter { $0 !== receiver }.map { "from \($0.name)" }
            #expect(receiver.visibleTexts(in: scene.chat).sorted() == others, "\(receiver.name)")
        }
    }

    @Test func manyMessagesOfOneAccountCountOnce() async throws {
        let scene = try await Scene(seed: 43, isAdmin: true)
        let base = try scene.adversary.newest()
        try await scene.rename("honest name")
        for member in scene.honest[1...] { try await member.say("witness", in: scene.chat) }
        let profile = try GroupProfileState(name: "forged name", description: "")
        var events = [try scene.adversary.commit(.profile(profile), on: base, now: scene.now)]
        for number in 0..<20 { events.append(try scene.adversary.say("witness \(number)", now: scene.now)) }
        try await scene.publish(events)
        let tip = try await scene.agreement()
        #expect(tip.name == "honest name")
        for member in scene.honest {
            #expect(!member.visibleTexts(in: scene.chat).contains { $0.hasPrefix("witness ") }, "\(member.name)")
        }
    }

    @Test func removedMemberCannotStay() async throws {
        let scene = try await Scene(seed: 44, isAdmin: false)
        let base = try scene.adversary.newest()
        let hostile = scene.adversary.keys.publicKey
        try await scene.alice.perform(.removeGroupMembers(chatID: scene.chat, peers: [hostile]))
        try await scene.lab.advance(by: .seconds(10))
        // A longer branch without its removal, from the time when it was a member.
        try await scene.publish(try scene.adversary.branch(4, from: base, now: scene.now))
        let tip = try await scene.agreement()
        #expect(!tip.members.contains(hostile) && tip.members.count == 3)
    }

    @Test func steadyUpdatesDoNotStarveAdmin() async throws {
        let scene = try await Scene(seed: 45, isAdmin: false)
        var request: RequestID?
        for number in 0..<40 {
            try scene.follow()
            // A rival of the last one, before the second of quiet is over: each pass lasts as long as it can.
            let tip = try #require(try await scene.alice.secondGroup(of: scene.chat)).tip
            let base = try #require(
                scene.adversary.states.last { $0.mls.epochAuthenticator == tip.mls.epochAuthenticator })
            try await scene.publish(try scene.adversary.branch(1, from: base, now: scene.now))
            if number == 3 { request = scene.alice.begin(.renameGroup(chatID: scene.chat, name: "by the admin")) }
            try await scene.lab.advance(by: .milliseconds(900))
        }
        let tip = try await scene.agreement()
        #expect(tip.name == "by the admin")
        let outcome = scene.alice.outcome(of: try #require(request))
        #expect(outcome == .done(chatID: scene.chat))
    }
}
