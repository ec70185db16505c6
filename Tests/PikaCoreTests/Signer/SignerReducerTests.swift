import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

/// An account with a remote signer that answers late, in any order, wrongly, or not at all.
@Suite struct SignerReducerTests {
    private static let away = SignerError(.away, "no answer within 30 s")
    private static let refused = SignerError(.refused, "not allowed")

    /// Two started accounts; a signer holds the key of the second.
    private func pair(_ invites: CoreConfiguration.InvitePolicy = .anyone) throws -> ReducerWorld {
        var world = try ReducerWorld(2, invites: invites, remote: [1])
        for index in 0..<2 { world.reduce(index, .started) }
        return world
    }

    /// Founds a group with the other account, without delivering events.
    private func invite(_ world: inout ReducerWorld, by index: Int = 0) {
        world.act(index, .createGroupChat(name: "Lab", peers: [world[1 - index].key]), "create")
        world.catchUp(index)
    }

    // MARK: Correct answers

    @Test func remoteAccountBehavesLikeLocalAccount() throws {
        var world = try ReducerWorld.group(3, remote: [0, 2])
        #expect(world[0].model.state.signer == .ready && world[1].model.state.signer == nil)
        for index in 0..<3 { world.say(index, "from \(index)") }
        world.settle()
        #expect(world[2].texts == ["from 0", "from 1"])
        let kinds = Set(world.relayed.filter { $0.pubkey == world[2].key }.map(\.kind))
        #expect(kinds == [.addressableKeyPackage, .keyPackage, .inboxRelays, .keyPackageRelays, .deletion])
        for event in world.relayed { try event.verify() }
        #expect(world.accounts.allSatisfy { $0.model.signer.isEmpty })
        #expect(world.accounts.allSatisfy { $0.durable.state.memos.keys.allSatisfy { $0.kind != .keyTask } })
    }

    @Test func startRequestsSignaturesInOrder() throws {
        let world = try self.pair()
        let kinds = world[1].signerRequests.map { asked -> [Kind] in
            if case .sign(let drafts) = asked.operation { drafts.map(\.kind) } else { [] }
        }
        #expect(
            kinds == [
                [.accountProof], [.keyPackageRelays], [.inboxRelays], [.keyPackage],
            ])
        #expect(world[1].model.state.signer == .unknown)
        #expect(world[1].publishing.isEmpty)
        #expect(world[0].signerRequests.isEmpty)
    }

    @Test func answersMayComeInAnyOrder() throws {
        var world = try self.pair()
        let requests = world[1].signerRequests
        world.accounts[1].due.removeAll { if case .useKey = $0 { true } else { false } }
        for (job, operation) in requests.reversed() { world.sign(1, job, operation) }
        #expect(Set(world[1].publishing.map(\.event.kind)).count == 3)
        // A repeated answer, and an unrequested one.
        let before = world[1].durable.state.outbox
        for (job, operation) in requests { world.sign(1, job, operation) }
        world.sign(1, 999, requests[0].operation)
        #expect(world[1].durable.state.outbox == before)
    }

    @Test func limitsRequestsAndPrefersOwnActions() throws {
        var world = try self.pair()
        world.settle()
        let wraps = try (0..<20).map { _ in
            let rumor = UnsignedEvent(pubkey: world[0].key, createdAt: 1, kind: .chatMessage, content: "x")
            return try GiftWrap.wrap(
                rumor, from: world[0].keys, to: world[1].key, now: ReducerWorld.start, using: &world.random)
        }
        for wrap in wraps { world.receive(1, wrap) }
        #expect(world[1].signerRequests.count == SignerQueue.window)
        let (job, operation) = world[1].signerRequests[0]
        world.act(1, .publishKeyPackage)
        self.invite(&world, by: 1)
        world.sign(1, job, operation)
        // Its own invitation precedes twelve gift wraps.
        guard case .encrypt(_, let peer)? = world[1].signerRequests.last?.operation else {
            Issue.record("unexpected requests: \(world[1].signerRequests.map(\.operation))")
            return
        }
        #expect(peer == world[0].key)
    }

    // MARK: Missing answers

    @Test func opensInvitationOnceSignerReturns() throws {
        var world = try self.pair()
        world.settle()
        world.accounts[1].signerAnswer = Self.away
        self.invite(&world)
        world.settle()
        #expect(world[1].model.groups.isEmpty)
        #expect(world[1].model.state.signer == .away(reason: "no answer within 30 s"))
        // Requests are retried after 1, 2, 4 … seconds, one at a time.
        world.say(0, "are you there?")
        world.advance(seconds: 7)
        #expect(world[1].model.signer.failures == 4)
        world.accounts[1].signerAnswer = nil
        world.advance(seconds: 30)
        #expect(world[1].model.state.signer == .ready)
        #expect(world[1].model.groups.count == 1 && world[1].texts == ["are you there?"])
    }

    @Test func unopenedInvitationSurvivesRestart() throws {
        var world = try self.pair()
        world.settle()
        self.invite(&world)
        let wrap = try #require(world[0].publishing.first { $0.event.kind == .giftWrap }).event
        world.receive(1, wrap)
        #expect(world[1].signerRequests.count == 1 && world[1].model.inbound.seen.contains(wrap.id) == false)
        // The same holds between the two layers.
        let (job, operation) = world[1].signerRequests[0]
        world.accounts[1].due = []
        world.sign(1, job, operation)
        #expect(world[1].signerRequests.count == 1)
        try world.restart(1)
        #expect(world[1].signerRequests.count == 1)
        // A repeated event has no effect.
        world.receive(1, wrap)
        #expect(world[1].signerRequests.count == 1)
        world.settle()
        #expect(world[1].model.groups.count == 1 && world[1].model.inbound.seen.contains(wrap.id))
        try world.restart(1)
        world.receive(1, wrap)
        #expect(world[1].signerRequests.isEmpty && world[1].durable.state.memos.keys.allSatisfy { $0.kind != .keyTask })
    }

    @Test func unsealedWelcomesSurviveRestart() throws {
        var world = try self.pair()
        world.settle()
        world.accounts[1].signerAnswer = Self.away
        self.invite(&world, by: 1)
        world.settle()
        #expect(world[1].model.groups.count == 1 && world[1].outcomes["create"] == nil)
        #expect(world[1].durable.state.outbox.allSatisfy { $0.purpose != .welcome })
        try world.restart(1)
        world.accounts[1].signerAnswer = nil
        world.settle()
        #expect(world[0].model.groups.count == 1)
        #expect(world.relayed.filter { $0.kind == .giftWrap }.count == 1)
        // Nothing is left to be repeated.
        try world.restart(1)
        #expect(world[1].signerRequests.isEmpty)
        world.settle()
        #expect(world.relayed.filter { $0.kind == .giftWrap }.count == 1)
    }

    @Test func unsignedKeyPackageAndRelayListsSurviveRestart() throws {
        var world = try self.pair()
        let package = try #require(world[1].model.keyPackages.references.first)
        try world.restart(1)
        // Two lists, the package, and the proof of a key made anew.
        #expect(world[1].signerRequests.count == 4)
        #expect(world[1].model.keyPackages.references == [package])
        world.settle()
        #expect(world.relayed.filter { $0.pubkey == world[1].key }.count == 4)
        #expect(world[1].model.state.hasPublishedKeyPackage)
        try world.restart(1)
        #expect(world[1].signerRequests.isEmpty)
    }

    @Test func accountCanReturnToLocalKey() throws {
        var world = try self.pair()
        world.accounts[1].isRemote = false
        try world.restart(1)
        #expect(world[1].signerRequests.isEmpty && world[1].model.signer.isEmpty && world[1].model.state.signer == nil)
        #expect(world[1].durable.state.memos.keys.allSatisfy { $0.kind != .keyTask })
        world.settle()
        #expect(world.relayed.filter { $0.pubkey == world[1].key }.count == 4)
    }

    // MARK: Refusals

    @Test func refusalFailsActionWithReason() throws {
        var world = try self.pair()
        world.accounts[1].signerAnswer = Self.refused
        world.act(1, .publishKeyPackage, "publish")
        world.settle()
        #expect(world[1].outcomes["publish"]?.failure == .signerRefused)
        #expect(world[1].model.state.toast == "the signer said: not allowed")
        #expect(world[1].model.state.signer == .refused(reason: "not allowed"))
        #expect(world[1].model.signer.isEmpty && world[1].publishing.isEmpty)
        // The next start asks again.
        world.accounts[1].signerAnswer = nil
        try world.restart(1)
        world.settle()
        #expect(world[1].model.state.hasPublishedKeyPackage && world[1].model.state.signer == .ready)
    }

    @Test func reportsPeerOfRefusedInvitation() throws {
        var world = try self.pair()
        world.settle()
        world.accounts[1].signerAnswer = Self.refused
        self.invite(&world, by: 1)
        world.settle()
        guard case .partlyDone(_, let left)? = world[1].outcomes["create"] else {
            Issue.record("unexpected outcome: \(String(describing: world[1].outcomes["create"]))")
            return
        }
        #expect(left == [world[0].key: .welcomeRefused(reason: "the signer said: not allowed")])
        #expect(world[1].model.signer.isEmpty)
    }

    @Test func retriesGiftWrapBeforeDroppingIt() throws {
        var world = try self.pair()
        world.settle()
        world.accounts[1].signerAnswer = Self.refused
        self.invite(&world)
        world.settle()
        #expect(world[1].model.state.signer == .ready)
        world.advance(seconds: 61)
        #expect(world[1].model.signer.inOrder.map(\.refusals) == [2])
        world.accounts[1].signerAnswer = nil
        world.advance(seconds: 600)
        #expect(world[1].model.groups.count == 1)
        // Another gift wrap, which cannot be decrypted.
        let rumor = UnsignedEvent(pubkey: world[0].key, createdAt: 1, kind: .welcome, content: "")
        let stranger = KeyPair.generate(using: &world.random)
        let made = try GiftWrap.wrap(
            rumor, from: world[0].keys, to: stranger.publicKey, now: ReducerWorld.start, using: &world.random)
        world.receive(1, made)
        #expect(world[1].model.signer.isEmpty)
        var forged = made.unsigned
        forged.tags = [.user(world[1].key)]
        forged.pubkey = stranger.publicKey
        let wrap = forged.signed(by: stranger, using: &world.random)
        world.receive(1, wrap)
        world.settle()
        world.advance(seconds: 5000)
        #expect(world[1].model.signer.isEmpty && world[1].model.inbound.seen.contains(wrap.id))
    }

    @Test func wrongAccountSignerCountsAsAway() throws {
        var world = try self.pair()
        world.settle()
        world.accounts[1].signerAnswer = SignerError(.wrongAccount, "it holds another key")
        self.invite(&world)
        world.settle()
        #expect(world[1].model.state.signer == .away(reason: "it holds another key"))
        #expect(world[1].model.signer.count == 1)
    }

    enum Alteration: CaseIterable {
        case content, kind, tags, time, author, signature, count
    }

    @Test(arguments: Alteration.allCases)
    func refusesDifferentSignedEvent(_ alteration: Alteration) throws {
        var world = try self.pair()
        let (job, operation) = world[1].signerRequests[0]
        guard case .sign(let drafts) = operation, var draft = drafts.first else { return }
        var signer = world[1].keys
        switch alteration {
        case .content: draft.content = "paid by"
        case .kind: draft.kind = .textNote
        case .tags: draft.tags.append(Tag("p", world[0].key.hex))
        case .time: draft.createdAt += 1
        case .author:
            signer = KeyPair.generate(using: &world.random)
            draft.pubkey = signer.publicKey
        case .signature: signer = KeyPair.generate(using: &world.random)
        case .count: break
        }
        let event = draft.signed(by: signer, using: &world.random)
        world.accounts[1].due = []
        world.reduce(1, .keyUsed(job: job, .success(.signed(alteration == .count ? [event, event] : [event]))))
        #expect(world[1].publishing.isEmpty && world[1].model.signer[job] == nil)
        guard case .refused? = world[1].model.state.signer else {
            Issue.record("unexpected signer state: \(String(describing: world[1].model.state.signer))")
            return
        }
    }

    @Test func refusesAnswerOfAnotherOperation() throws {
        var world = try self.pair()
        let (job, _) = world[1].signerRequests[0]
        world.reduce(1, .keyUsed(job: job, .success(.encrypted("x"))))
        #expect(world[1].model.signer[job] == nil)
    }

    // MARK: Approval

    @Test func showsApprovalAddress() throws {
        var world = try self.pair()
        world.reduce(1, .signerChallenge("https://signer.example/approve"))
        #expect(world[1].model.state.signer == .needsApproval(url: "https://signer.example/approve"))
        world.settle()
        #expect(world[1].model.state.signer == .ready)
        world.reduce(0, .signerChallenge("https://signer.example/approve"))
        #expect(world[0].model.state.signer == nil)
    }

    // MARK: People

    @Test func followChangesExtendPendingList() throws {
        var world = try ReducerWorld(3, remote: [1])
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        world.accounts[1].signerAnswer = Self.away
        world.act(1, .follow(world[0].key), "first")
        world.settle()
        world.act(1, .follow(world[2].key), "second")
        world.settle()
        #expect(world[1].outcomes["first"] == nil && world[1].outcomes["second"] == nil)
        #expect(world[1].model.state.followList.isEmpty)
        world.accounts[1].signerAnswer = nil
        world.advance(seconds: 120)
        #expect(world[1].outcomes["first"] == .done(chatID: nil) && world[1].outcomes["second"] == .done(chatID: nil))
        #expect(world[1].model.state.followList.map(\.profile.publicKey) == [world[0].key, world[2].key])
        let lists = world.relayed.filter { $0.kind == .followList }
        #expect(lists.count == 2 && lists.last?.tags(named: "p").count == 2)
    }

    @Test func refusedProfileIsNotSaved() throws {
        var world = try self.pair()
        world.settle()
        world.accounts[1].signerAnswer = Self.refused
        world.act(1, .saveProfile(ProfileDraft(name: "Bot")), "save")
        world.settle()
        #expect(world[1].outcomes["save"]?.failure == .signerRefused)
        #expect(world[1].model.state.myProfile?.name == nil && world[1].model.signer.isEmpty)
        world.accounts[1].signerAnswer = nil
        world.act(1, .saveProfile(ProfileDraft(name: "Bot")), "again")
        world.settle()
        #expect(world[1].outcomes["again"] == .done(chatID: nil) && world[1].model.state.myProfile?.name == "Bot")
    }

    // MARK: Copies

    @Test func holdsMessagesUntilCopyNoticesAreRead() throws {
        var world = try ReducerWorld.group(2, remote: [1])
        world.accounts[1].configuration.detectsCopies = true
        try world.restart(1)
        world.connect(1)
        world.settle()
        #expect(world.relayed.contains { $0.kind == .applicationData && $0.pubkey == world[1].key })
        // It recognizes its own notice without the signer.
        world.accounts[1].signerAnswer = Self.away
        try world.restart(1)
        world.connect(1)
        world.say(1, "at once")
        #expect(world[1].publishing.contains { $0.event.kind == .groupEvent })
        world.settle()
        #expect(world[0].texts == ["at once"])
        // An unknown notice must be decrypted first: it may be by a later copy.
        world.accounts[1].durable.state.memos[MemoName(.copyNotice, [])] = nil
        try world.restart(1)
        world.connect(1)
        world.say(1, "held")
        world.settle()
        #expect(world[0].texts == ["at once"])
        world.accounts[1].signerAnswer = nil
        world.advance(seconds: 60)
        #expect(world[0].texts == ["at once", "held"])
    }

    @Test func laterCopySupersedesRemoteAccount() throws {
        var world = try ReducerWorld.group(2, remote: [1])
        world.accounts[1].configuration.detectsCopies = true
        try world.restart(1)
        world.connect(1)
        world.settle()
        world.now += 60_000
        let copy = world.copy(1)
        try world.restart(copy)
        world.connect(copy)
        world.settle()
        #expect(world[1].model.failure?.code == .superseded && world[copy].model.failure == nil)
    }
}

/// The stored form of queued signer tasks.
@Suite struct KeyTaskMemoTests {
    private func tasks() throws -> [KeyTask] {
        var random = SplitMix64(seed: 3)
        let (sender, peer) = (KeyPair.generate(using: &random), KeyPair.generate(using: &random))
        let rumor = UnsignedEvent(
            pubkey: sender.publicKey, createdAt: 5, kind: .welcome, tags: [Tag("e", "x"), Tag("é")],
            content: "\"\n\u{1}")
        let wrap = try GiftWrap.wrap(
            rumor, from: sender, to: peer.publicKey, now: ReducerWorld.start, using: &random)
        return [
            .open(wrap),
            .seal(
                DueSeal(row: "welcome/1", rumor: rumor, recipient: peer.publicKey, relays: [ReducerWorld.relay])),
            .announce([1, 2, 3]), .relayList(.inboxRelays), .delete([wrap.id], at: [ReducerWorld.relay]),
            .publish(DuePublication(row: "r", draft: rumor, relays: [], purpose: .relayList)),
        ]
    }

    @Test func tasksRoundTrip() throws {
        for task in try self.tasks() { #expect(KeyTask(memo: task.memo) == task) }
    }

    @Test func refusesTruncatedAndUnknownTasks() throws {
        for task in try self.tasks() {
            let bytes = task.memo.copyBytes()
            for length in stride(from: 0, to: bytes.count, by: 7) {
                #expect(KeyTask(memo: Secret(Array(bytes.prefix(length)))) == nil)
            }
        }
        for text in [#"{"v":2,"task":"announce","reference":"01"}"#, #"{"v":1,"task":"other"}"#, #"{"v":1}"#] {
            #expect(KeyTask(memo: Secret(Array(text.utf8))) == nil)
        }
    }

    @Test func reportsUnreadableMemo() throws {
        var stored = StoredState()
        stored.memos[MemoName(.keyTask, [0, 0, 0, 0, 0, 0, 0, 1])] = Secret([1])
        var random = SplitMix64(seed: 3)
        let key = KeyPair.generate(using: &random).publicKey
        #expect {
            try CoreModel(
                account: .remote(key), configuration: CoreConfiguration(relays: [ReducerWorld.relay]), stored: stored)
        } throws: { ($0 as? AppCoreError)?.code == .corruptState }
    }
}
