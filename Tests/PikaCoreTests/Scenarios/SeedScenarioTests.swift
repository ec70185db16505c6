import BotTesting
import LiveTesting
import Nostr
import PikaCore
import Testing

/// Pika's own test list, applied to a core over the lab's relays.
@Suite(.bounded) struct SeedScenarioTests {
    private struct Stage {
        let lab: GroupLab
        let alice: LabMember
        let others: [LabMember]
        var everybody: [LabMember] { [self.alice] + self.others }
        var keys: [PublicKey] { self.others.map(\.publicKey) }
    }

    private func stage(_ seed: UInt64, _ names: [String] = ["bob", "carol", "dave"]) async throws -> Stage {
        let lab = try GroupLab(seed: seed)
        let alice = try await lab.member("alice")
        var others: [LabMember] = []
        for name in names { others.append(try await lab.member(name)) }
        return Stage(lab: lab, alice: alice, others: others)
    }

    /// A key without a key package on any relay.
    private func stranger() -> PublicKey {
        var generator = SeededGenerator(seed: 4711)
        return KeyPair.generate(using: &generator).publicKey
    }

    private func expectMembers(
        _ expected: [PublicKey], admins: [PublicKey], isGroup: Bool, of chat: ChatID, seenBy members: [LabMember],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for member in members {
            let summary = try #require(try await member.summary(of: chat), sourceLocation: sourceLocation)
            #expect(summary.isGroup == isGroup, "\(member.name)", sourceLocation: sourceLocation)
            #expect(
                Set(summary.allMembers.map(\.publicKey)) == Set(expected) && summary.allMembers.count == expected.count,
                "\(member.name)", sourceLocation: sourceLocation)
            #expect(
                Set(summary.allMembers.filter(\.isAdmin).map(\.publicKey)) == Set(admins), "\(member.name)",
                sourceLocation: sourceLocation)
            #expect(
                summary.isAdmin == admins.contains(member.publicKey), "\(member.name)", sourceLocation: sourceLocation)
            #expect(summary.isActive, "\(member.name)", sourceLocation: sourceLocation)
        }
    }

    // MARK: Membership

    @Test func createsGroupWithSeveralMembers() async throws {
        let stage = try await stage(500)
        let chat = try await stage.alice.create("friends", inviting: stage.others)
        let all = stage.everybody.map(\.publicKey)
        try await self.expectMembers(
            all, admins: [stage.alice.publicKey], isGroup: true, of: chat, seenBy: stage.everybody)
        for member in stage.everybody { #expect(try await member.summary(of: chat)?.name == "friends") }
    }

    @Test func nameMakesChatOfTwoGroup() async throws {
        let stage = try await stage(501, ["bob"])
        let bob = stage.others[0]
        guard case .done(let direct?) = try await stage.alice.perform(.createChat(peer: bob.publicKey)) else {
            return #expect(Bool(false), "expected a chat id")
        }
        let both = stage.everybody.map(\.publicKey)
        try await self.expectMembers(both, admins: both, isGroup: false, of: direct, seenBy: stage.everybody)
        #expect(try await bob.summary(of: direct)?.name == "DM")
        let named = try await stage.alice.create("plans", inviting: [bob])
        try await self.expectMembers(
            both, admins: [stage.alice.publicKey], isGroup: true, of: named, seenBy: stage.everybody)
    }

    @Test func membersAreAddedAndRemoved() async throws {
        let stage = try await stage(502)
        let alice = stage.alice
        let (bob, carol, dave) = (stage.others[0], stage.others[1], stage.others[2])
        let admins = [alice.publicKey]
        let chat = try await alice.create("", inviting: [bob])
        try await self.expectMembers(
            [alice, bob].map(\.publicKey), admins: admins, isGroup: false, of: chat, seenBy: [alice, bob])
        try await alice.add([carol, dave], to: chat)
        try await self.expectMembers(
            stage.everybody.map(\.publicKey), admins: admins, isGroup: true, of: chat, seenBy: stage.everybody)
        try await alice.remove([bob, dave], from: chat)
        try await self.expectMembers(
            [alice, carol].map(\.publicKey), admins: admins, isGroup: false, of: chat, seenBy: [alice, carol])
        for gone in [bob, dave] { #expect(try await gone.summary(of: chat)?.isActive == false) }
        try await alice.add([bob], to: chat)
        try await self.expectMembers(
            [alice, bob, carol].map(\.publicKey), admins: admins, isGroup: true, of: chat, seenBy: [alice, bob, carol])
    }

    @Test func adminsChange() async throws {
        let stage = try await stage(503)
        let chat = try await stage.alice.create("friends", inviting: stage.others)
        let admins = [stage.alice, stage.others[1]].map(\.publicKey)
        try await stage.alice.perform(.setGroupAdmins(chatID: chat, admins: admins))
        let all = stage.everybody.map(\.publicKey)
        try await self.expectMembers(all, admins: admins, isGroup: true, of: chat, seenBy: stage.everybody)
        try await stage.alice.perform(.selfDemote(chatID: chat))
        try await self.expectMembers(
            all, admins: [stage.others[1].publicKey], isGroup: true, of: chat, seenBy: stage.everybody)
    }

    // MARK: Removal

    @Test func removalEmptiesChatWithReason() async throws {
        let stage = try await stage(511, ["bob", "carol"])
        let (bob, carol) = (stage.others[0], stage.others[1])
        let chat = try await stage.alice.create("friends", inviting: stage.others)
        try await stage.alice.say("secret", in: chat)
        #expect(try await bob.messages(in: chat).map(\.content) == ["secret"])
        try await stage.alice.remove([bob], from: chat)
        #expect(try await bob.state().router.top == .chatList)
        #expect(try await bob.messages(in: chat).isEmpty)
        let view = try #require(try await bob.state().currentChat)
        #expect(view.chatID == chat)
        #expect(view.messages.isEmpty && !view.canLoadOlder)
        #expect(view.endReason == .removed(by: stage.alice.publicKey))
        let summary = try #require(try await bob.summary(of: chat))
        #expect(!summary.isActive && !summary.isAdmin && summary.members.isEmpty)
        #expect(summary.endReason == .removed(by: stage.alice.publicKey))
        guard case .failed(let error)? = try await bob.attempt(.sendMessage(chatID: chat, .text("still here"))) else {
            return #expect(Bool(false), "expected a refusal")
        }
        #expect(error.code == .notAllowed)
        // The same holds after a restart, until a member adds it again.
        bob.crash()
        try await bob.restart()
        #expect(try await bob.summary(of: chat)?.endReason == .removed(by: stage.alice.publicKey))
        #expect(try await bob.messages(in: chat).isEmpty)
        try await stage.alice.add([bob], to: chat)
        try await stage.alice.say("welcome back", in: chat)
        #expect(try await bob.summary(of: chat)?.endReason == nil)
        #expect(try await bob.messages(in: chat).map(\.content).contains("welcome back"))
        #expect(try await carol.summary(of: chat)?.endReason == nil)
    }

    // MARK: Messages

    @Test func everyMemberReceivesEveryMessage() async throws {
        let stage = try await stage(504)
        let chat = try await stage.alice.create("friends", inviting: stage.others)
        #expect(try await stage.alice.state().router.stack == [.chat(chatID: chat)])
        try await stage.alice.perform(.setScreens([]))
        for member in stage.everybody { try await member.say("from \(member.name)", in: chat) }
        for member in stage.everybody {
            let expected = stage.everybody.filter { $0 !== member }.map { "from \($0.name)" }
            #expect(member.heard(in: chat) == expected, "\(member.name)")
            let summary = try #require(try await member.summary(of: chat))
            #expect(summary.unreadCount == 3, "\(member.name)")
            let shown = try await member.messages(in: chat)
            #expect(Set(shown.map(\.content)) == Set(stage.everybody.map { "from \($0.name)" }), "\(member.name)")
            for message in shown {
                #expect(message.isOwn == (message.sender == member.publicKey))
                #expect(message.delivery == (message.isOwn ? .sent : .received))
            }
            #expect(try await member.summary(of: chat)?.unreadCount == 0, "\(member.name)")
        }
    }

    @Test func queuesOfflineMessagesInOrder() async throws {
        let stage = try await stage(505, ["bob"])
        let bob = stage.others[0]
        let chat = try await stage.alice.create("friends", inviting: [bob])
        try await stage.alice.say("before", in: chat)
        stage.lab.network.takeDown(stage.lab.relay)
        // Stored messages can be read, and new messages are queued, also across a restart.
        #expect(try await stage.alice.messages(in: chat).map(\.content) == ["before"])
        for number in 1...5 {
            try await stage.lab.advance(by: .seconds(1))
            try await stage.alice.say("\(number)", in: chat)
        }
        #expect(try await stage.alice.state().outbox.pending == 5)
        stage.alice.crash()
        try await stage.alice.restart()
        let waiting = try await stage.alice.messages(in: chat)
        #expect(waiting.map(\.content) == ["before", "1", "2", "3", "4", "5"])
        #expect(waiting.map(\.delivery) == [.sent] + Array(repeating: .pending, count: 5))
        #expect(bob.heard(in: chat) == ["before"])
        stage.lab.network.bringUp(stage.lab.relay)
        try await stage.lab.settle()
        #expect(bob.heard(in: chat) == ["before", "1", "2", "3", "4", "5"])
        #expect(try await stage.alice.state().outbox.pending == 0)
        #expect(try await stage.alice.messages(in: chat).allSatisfy { $0.delivery == .sent })
    }

    // MARK: Key packages

    @Test func oneMissingKeyPackageFailsTheGroup() async throws {
        let stage = try await stage(506, ["bob", "carol"])
        let published = stage.lab.network.publications.count
        let peers = stage.keys + [self.stranger()]
        guard
            case .failed(let error) = try await stage.alice.attempt(.createGroupChat(name: "three", peers: peers))
        else { return #expect(Bool(false), "expected no group") }
        #expect(error.code == .noKeyPackage)
        #expect(stage.lab.network.publications.count == published)
        for member in stage.everybody { #expect(try await member.state().chatList.isEmpty) }
        #expect(try await stage.alice.state().busy.creatingChat == false)
    }

    @Test func createsGroupWithoutMissingPeers() async throws {
        let stage = try await stage(507, ["bob", "carol"])
        let stranger = self.stranger()
        let outcome = try await stage.alice.attempt(
            .createGroupChat(name: "three", peers: stage.keys + [stranger], missing: .proceedWithout))
        guard case .partlyDone(let chat, let left)? = outcome else {
            return #expect(Bool(false), "\(String(describing: outcome))")
        }
        #expect(left == [stranger: .keyPackage(.missing)])
        let all = stage.everybody.map(\.publicKey)
        let admins = [stage.alice.publicKey]
        try await self.expectMembers(all, admins: admins, isGroup: true, of: chat, seenBy: stage.everybody)
        // The same holds for members that are added later.
        let dave = try await stage.lab.member("dave")
        let peers = [dave.publicKey, stranger]
        guard
            case .failed(let error) = try await stage.alice.attempt(.addGroupMembers(chatID: chat, peers: peers))
        else { return #expect(Bool(false), "expected a refusal") }
        #expect(error.code == .noKeyPackage)
        try await self.expectMembers(all, admins: admins, isGroup: true, of: chat, seenBy: stage.everybody)
        let second = try await stage.alice.attempt(
            .addGroupMembers(chatID: chat, peers: peers, missing: .proceedWithout))
        #expect(second == .partlyDone(chatID: chat, left: [stranger: .keyPackage(.missing)]))
        try await self.expectMembers(
            all + [dave.publicKey], admins: admins, isGroup: true, of: chat, seenBy: stage.everybody + [dave])
    }

    // MARK: Commit before Welcome

    private func welcomes(_ lab: GroupLab) -> Int {
        lab.network.publications.filter { $0.publication.event.kind == .giftWrap }.count
    }

    /// The relay's OK is late, or its answer or the commit itself is lost.
    @Test(arguments: [LabNetwork.Verdict.hold, .lose, .refuse("rate-limited: wait"), .refuse("error: busy")])
    func sendsWelcomeOnlyAfterCommitIsConfirmed(verdict: LabNetwork.Verdict) async throws {
        let stage = try await stage(508, ["bob", "carol"])
        let (bob, carol) = (stage.others[0], stage.others[1])
        let chat = try await stage.alice.create("friends", inviting: [bob])
        let before = self.welcomes(stage.lab)
        stage.lab.network.onPublish { $0.event.kind == .groupEvent ? verdict : .deliver }
        let request = stage.alice.begin(.addGroupMembers(chatID: chat, peers: [carol.publicKey]))
        try await stage.lab.advance(by: .seconds(20))
        #expect(stage.alice.outcome(of: request) == nil)
        #expect(self.welcomes(stage.lab) == before)
        #expect(try await carol.state().chatList.isEmpty)
        #expect(try await stage.alice.summary(of: chat)?.allMembers.count == 2)
        #expect(try await stage.alice.state().busy.changingChats == [chat])
        stage.lab.network.deliverEverything()
        stage.lab.network.release()
        try await stage.lab.advance(by: .seconds(60))
        #expect(stage.alice.outcome(of: request) == .done(chatID: chat))
        #expect(self.welcomes(stage.lab) == before + 1)
        let publications = stage.lab.network.publications
        let commit = publications.lastIndex { $0.publication.event.kind == .groupEvent && $0.verdict == .deliver }
        let welcome = publications.lastIndex { $0.publication.event.kind == .giftWrap }
        if verdict != .hold { #expect(try #require(commit) < #require(welcome)) }
        try await self.expectMembers(
            stage.everybody.map(\.publicKey), admins: [stage.alice.publicKey], isGroup: true, of: chat,
            seenBy: stage.everybody)
    }

    @Test func refusedCommitSendsNoWelcomes() async throws {
        let stage = try await stage(509, ["bob", "carol"])
        let (bob, carol) = (stage.others[0], stage.others[1])
        let chat = try await stage.alice.create("friends", inviting: [bob])
        let before = self.welcomes(stage.lab)
        stage.lab.network.onPublish { $0.event.kind == .groupEvent ? .refuse("blocked: no") : .deliver }
        let outcome = try await stage.alice.attempt(.addGroupMembers(chatID: chat, peers: [carol.publicKey]))
        guard case .failed(let error)? = outcome else { return #expect(Bool(false), "expected a refusal") }
        #expect(error.code == .refused)
        stage.lab.network.deliverEverything()
        try await stage.lab.advance(by: .seconds(3600))
        #expect(self.welcomes(stage.lab) == before)
        #expect(try await carol.state().chatList.isEmpty)
        try await stage.alice.add([carol], to: chat)
        try await self.expectMembers(
            stage.everybody.map(\.publicKey), admins: [stage.alice.publicKey], isGroup: true, of: chat,
            seenBy: stage.everybody)
    }

    // MARK: Updates

    /// A reader as ``AppUpdate`` requires: it drops updates whose `rev` is not above the last one.
    private struct Reader {
        var state = AppState()
        var dropped = 0

        mutating func receive(_ update: AppState) {
            guard update.rev > self.state.rev else {
                self.dropped += 1
                return
            }
            self.state = update
        }
    }

    @Test func staleUpdatesCanBeDropped() async throws {
        let stage = try await stage(510, ["bob"])
        let bob = stage.others[0]
        let chat = try await stage.alice.create("friends", inviting: [bob])
        _ = try await bob.messages(in: chat)
        for number in 0..<10 { try await stage.alice.say("\(number)", in: chat) }
        let newest = try await bob.state()
        let updates = try #require(bob.snapshots.last)
        #expect(updates.count > 10)
        #expect(updates.last == newest)
        var generator = SeededGenerator(seed: 510)
        for _ in 0..<20 {
            var reader = Reader()
            // Late, repeated, and out of order.
            for update in (updates + updates).shuffled(using: &generator) { reader.receive(update) }
            #expect(reader.state == newest)
            #expect(reader.dropped >= updates.count)
        }
    }
}
