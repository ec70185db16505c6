import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Accounts that found and join groups of both generations.
@Suite struct BothGenerationsReducerTests {
    private func started(
        _ count: Int, invites: CoreConfiguration.InvitePolicy = .anyone, remote: Set<Int> = []
    ) throws -> ReducerWorld {
        var world = try ReducerWorld(count, invites: invites, remote: remote, groupProtocol: .auto)
        for index in 0..<count { world.reduce(index, .started) }
        world.settle()
        return world
    }

    private func generations(_ world: ReducerWorld, _ index: Int) -> [GroupGeneration] {
        world[index].model.groups.values.map(\.generation)
    }

    private func isPackage(_ event: Event, of generation: GroupGeneration, by key: PublicKey) -> Bool {
        [.keyPackage, .addressableKeyPackage].contains(event.kind) && event.pubkey == key
            && GroupGeneration(announcedBy: event) == generation
    }

    /// Removes an account's key packages of a generation from the relay.
    private func drop(_ generation: GroupGeneration, of index: Int, _ world: inout ReducerWorld) {
        let key = world[index].key
        world.relayed.removeAll { self.isPackage($0, of: generation, by: key) }
    }

    private func joins(_ world: ReducerWorld, _ index: Int) -> [JoinEvent] {
        world[index].delivered.compactMap { if case .joined(let join) = $0.content { join } else { nil } }
    }

    private func deviceKey(_ world: ReducerWorld, _ index: Int) throws -> [UInt8] {
        try #require(world[index].durable.state.memos[MemoName(.deviceKey, [])]).copyBytes()
    }

    // MARK: Founding and joining

    @Test func newGroupsAreOfSecondGeneration() throws {
        var world = try self.started(3)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key, world[2].key]), "create")
        world.settle()
        #expect(world[0].outcomes["create"] == .done(chatID: world[0].chatID))
        for index in 0..<3 {
            #expect(self.generations(world, index) == [.v2])
            let group = world[index].model.groups.values.first
            #expect(group?.members == world.accounts.map(\.key) && group?.data.name == "Lab")
            #expect(group?.data.admins == [world[0].key] && group?.data.relays == [ReducerWorld.relay])
        }
        #expect(self.joins(world, 1).map(\.inviter) == [world[0].key])
        #expect(self.joins(world, 1).map(\.memberCount) == [3])
        // Founding publishes no commit, and each invitee has a Welcome of its own.
        #expect(!world.relayed.contains { $0.kind == .groupEvent })
        #expect(world.relayed.filter { $0.kind == .giftWrap }.count == 2)
    }

    @Test func actionAndConfigurationChooseGeneration() throws {
        var world = try self.started(2)
        world.act(0, .createGroupChat(name: "old", peers: [world[1].key], groupProtocol: .v1), "old")
        world.settle()
        world.act(0, .createChat(peer: world[1].key, name: "new", groupProtocol: .v2), "new")
        world.settle()
        #expect(Set(self.generations(world, 0)) == [.v1, .v2] && Set(self.generations(world, 1)) == [.v1, .v2])
        let second = world[1].model.groups.values.first { $0.generation == .v2 }
        #expect(second?.data.admins.sorted() == [world[0].key, world[1].key].sorted(), "a direct chat has two admins")
        // The first generation continues beside the second.
        let old = world[0].model.groups.values.first { $0.generation == .v1 }.map { ChatID($0.groupID) }
        world.act(0, .sendMessage(chatID: try #require(old), OutgoingMessage(content: "hello")), "say")
        world.settle()
        #expect(world[1].texts == ["hello"])
    }

    @Test func autoFallsBackToFirstGeneration() throws {
        var world = try self.started(4)
        self.drop(.v2, of: 2, &world)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key, world[2].key]), "create")
        world.settle()
        #expect(self.generations(world, 0) == [.v1] && self.generations(world, 2) == [.v1])
        // The group keeps its generation: a peer with a package of only the other one cannot be added.
        self.drop(.v1, of: 3, &world)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[3].key]), "add")
        world.settle()
        #expect(world[0].outcomes["add"]?.failure == .noKeyPackage)
        // Without invitees, `auto` chooses the second generation.
        world.act(0, .createGroupChat(name: "alone", peers: []), "alone")
        world.settle()
        #expect(Set(self.generations(world, 0)) == [.v1, .v2])
    }

    @Test func failsWithoutCommonGeneration() throws {
        var world = try self.started(3)
        self.drop(.v2, of: 1, &world)
        self.drop(.v1, of: 2, &world)
        let peers = [world[1].key, world[2].key]
        world.act(0, .createGroupChat(name: "all", peers: peers), "all")
        world.settle()
        guard case .failed(let error)? = world[0].outcomes["all"] else {
            Issue.record("expected the action to fail")
            return
        }
        #expect(error.code == .noKeyPackage && Set(error.peers.keys) == Set(peers))
        #expect(world[0].model.groups.isEmpty)
        world.act(0, .createGroupChat(name: "some", peers: peers, missing: .proceedWithout), "some")
        world.settle()
        #expect(
            world[0].outcomes["some"]
                == .partlyDone(chatID: world[0].chatID, left: [world[1].key: .keyPackage(.missing)]))
        #expect(self.generations(world, 2) == [.v2])
    }

    @Test func choiceSurvivesRestart() throws {
        var world = try self.started(2)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key], groupProtocol: .v1), "create")
        try world.restart(0)
        world.settle()
        #expect(self.generations(world, 0) == [.v1] && self.generations(world, 1) == [.v1])
    }

    @Test func founderNeedsRelay() throws {
        var world = try self.started(1)
        world.accounts[0].model.configuration.relays = []
        world.act(0, .createGroupChat(name: "Lab", peers: []), "create")
        #expect(world[0].outcomes["create"]?.failure == .noRelay && world[0].model.groups.isEmpty)
    }

    @Test func tooManyInviteesCreateNothing() throws {
        var world = try self.started(6)
        world.accounts[0].model.configuration.maximumEventBytes = 5_000
        let sent = world.relayed.count
        world.act(0, .createGroupChat(name: "Lab", peers: world.accounts.dropFirst().map(\.key)), "create")
        world.settle()
        guard case .failed(let error)? = world[0].outcomes["create"] else {
            Issue.record("expected the action to fail")
            return
        }
        #expect(error.message.contains("members that the group would have, about"))
        #expect(world[0].model.groups.isEmpty && world.relayed.count == sent)
    }

    // MARK: Welcomes

    @Test func signerOfWelcomeIsInviter() throws {
        var world = try self.started(3, invites: .nobody)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let invite = try #require(world[1].durable.state.invites.first)
        #expect(world[1].model.state.invites.map(\.inviter) == [world[0].key])
        world.act(1, .declineInvite(wrapper: invite.wrapper))
        // Another account forwards the same Welcome as its own.
        var rumor = invite.rumor
        rumor.pubkey = world[2].key
        let wrap = try GiftWrap.wrap(
            rumor, from: world[2].keys, to: world[1].key, now: ReducerWorld.start, using: &world.random)
        world.receive(1, wrap)
        #expect(world[1].model.state.invites.map(\.inviter) == [world[0].key])
        #expect(world[1].model.state.invites.map(\.group?.name) == ["Lab"])
        try world.restart(1)
        #expect(world[1].model.state.invites.map(\.inviter) == [world[0].key])
        world.act(1, .acceptInvite(wrapper: wrap.id), "accept")
        #expect(world[1].outcomes["accept"] == .done(chatID: world[0].chatID))
        #expect(self.joins(world, 1).map(\.inviter) == [world[0].key])
    }

    @Test func packageDecidesOnGenerationOfWelcome() throws {
        var world = try self.started(2, invites: .nobody)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let invite = try #require(world[1].durable.state.invites.first)
        world.act(1, .declineInvite(wrapper: invite.wrapper))
        var rumor = invite.rumor
        rumor.tags = rumor.tags.reversed() + [Nostr.Tag("client", "other"), Nostr.Tag("encoding", "base64")]
        let wrap = try GiftWrap.wrap(
            rumor, from: world[0].keys, to: world[1].key, now: ReducerWorld.start, using: &world.random)
        world.receive(1, wrap)
        world.act(1, .acceptInvite(wrapper: wrap.id), "accept")
        #expect(world[1].outcomes["accept"] == .done(chatID: world[0].chatID))
        #expect(self.generations(world, 1) == [.v2])
    }

    @Test func storedRequestKeepsItsProtocol() {
        for groupProtocol in GroupProtocol.allCases {
            let goal = GroupIntent.Goal.found(name: "n", peers: [], isDirect: false, groupProtocol: groupProtocol)
            let intent = GroupIntent(number: 7, groupID: .notYetCreated, goal: goal)
            #expect(GroupIntent(intent.memo, intent.stored)?.goal == goal)
        }
        // As an earlier version stored it.
        let text = #"{"v":1,"group":"","goal":{"type":"found","name":"n","peers":[],"direct":false}}"#
        let old = GroupIntent(MemoName(.groupIntent, [0, 0, 0, 0, 0, 0, 0, 7]), Secret(Array(text.utf8)))
        #expect(old?.goal == .found(name: "n", peers: [], isDirect: false, groupProtocol: .v1))
    }

    @Test func secondWelcomeToSameGroupChangesNothing() throws {
        var world = try self.started(2, invites: .nobody)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let invite = try #require(world[1].durable.state.invites.first)
        world.act(1, .acceptInvite(wrapper: invite.wrapper), "accept")
        world.settle()
        let packages = world[1].durable.state.keyPackages
        let again = try GiftWrap.wrap(
            invite.rumor, from: world[0].keys, to: world[1].key, now: ReducerWorld.start, using: &world.random)
        world.receive(1, again)
        #expect(self.joins(world, 1).count == 1 && world[1].model.groups.count == 1)
        #expect(world[1].durable.state.keyPackages == packages && world[1].model.state.invites.isEmpty)
    }

    @Test func failedWelcomeKeepsPackage() throws {
        var world = try self.started(2)
        let event = try #require(world.relayed.first { self.isPackage($0, of: .v2, by: world[1].key) })
        let stranger = KeyPair.generate(using: &world.random)
        let device = try DeviceKey.generate(for: stranger, now: ReducerWorld.start, using: &world.random)
        let id = try #require(Bytes32([UInt8](repeating: 7, count: 32)))
        let plan = GroupPlan(
            profile: try GroupProfileState(name: "bad"), admins: try AdminPolicy([stranger.publicKey]),
            routing: try NostrRouting(nostrGroupID: id, relays: [ReducerWorld.relay.string]), features: .bare)
        let invitee = try ComponentInvitee(examining: event, now: ReducerWorld.start)
        let founded = try ComponentGroup.found(
            plan, by: device, inviting: [invitee], now: ReducerWorld.start, using: &world.random)
        var rumor = try #require(founded.welcomes.first).rumor
        rumor.tags.append(rumor.tags[0])
        let bad = try GiftWrap.wrap(
            rumor, from: stranger, to: world[1].key, now: ReducerWorld.start, using: &world.random)
        world.receive(1, bad)
        #expect(world[1].notes.contains { if case .refused("bad_tag", _) = $0 { true } else { false } })
        #expect(world[1].model.groups.isEmpty && world[1].publishing.isEmpty)
        // The package is as usable as before.
        rumor.tags.removeLast()
        let good = try GiftWrap.wrap(
            rumor, from: stranger, to: world[1].key, now: ReducerWorld.start, using: &world.random)
        world.receive(1, good)
        #expect(self.generations(world, 1) == [.v2])
    }

    // MARK: Key packages

    @Test func joinReplacesPackageOfItsGeneration() throws {
        var world = try self.started(2)
        let before = world.relayed
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let fresh = world.relayed.dropFirst(before.count).filter { self.isPackage($0, of: .v2, by: world[1].key) }
        let old = try #require(before.first { self.isPackage($0, of: .v2, by: world[1].key) })
        #expect(fresh.count == 1 && fresh.first?.firstTag("d") == old.firstTag("d"))
        #expect(fresh.first.map { $0.createdAt > old.createdAt } == true)
        #expect(!world.relayed.dropFirst(before.count).contains { self.isPackage($0, of: .v1, by: world[1].key) })
        // The old package is one of last resort: further Welcomes for it may arrive.
        #expect(world[1].durable.state.keyPackages.count == 3)
        let slots = Set(world[1].durable.state.keyPackages.map(\.slot))
        #expect(slots.count == 2, "each generation has a slot")
    }

    @Test func packageAnnouncesProvenDevice() throws {
        var world = try self.started(1)
        let event = try #require(world.relayed.first { self.isPackage($0, of: .v2, by: world[0].key) })
        let invitee = try ComponentInvitee(examining: event, now: ReducerWorld.start)
        let device = try DeviceKey(stored: Secret(try self.deviceKey(world, 0)))
        #expect(invitee.identity == world[0].key && device.account == world[0].key)
        #expect(event.firstTag("client")?.value == "pikabot")
        // The same device key.
        let key = try self.deviceKey(world, 0)
        try world.restart(0)
        world.now += 80 * 86_400_000
        world.reduce(0, .timer(.maintenance))
        world.settle()
        #expect(try self.deviceKey(world, 0) == key)
        let renewed = try #require(world.relayed.last { self.isPackage($0, of: .v2, by: world[0].key) })
        #expect(renewed.id != event.id)
    }

    @Test func lostDeviceKeyIsReplaced() throws {
        var world = try self.started(2)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key], groupProtocol: .v2), "create")
        world.settle()
        let lost = try self.deviceKey(world, 1)
        world.accounts[1].durable.apply(.putMemo(MemoName(.deviceKey, []), nil))
        try world.restart(1)
        world.settle()
        let fresh = try DeviceKey(stored: Secret(try self.deviceKey(world, 1)))
        #expect(try self.deviceKey(world, 1) != lost && fresh.account == world[1].key)
        // The group goes on with the key of its own leaf, also when its keys are renewed.
        let leaf = world[1].second?.tip.mls.ownLeaf
        world.act(1, .updateGroupKeys(chatID: world[1].chatID), "keys")
        world.advance(seconds: 3)
        #expect(world[1].outcomes["keys"] == .done(chatID: world[1].chatID))
        #expect(world[0].second?.tip.epoch == 2 && world[1].second?.tip.epoch == 2)
        #expect(world[1].second?.tip.mls.ownLeaf.signatureKey == leaf?.signatureKey)
        #expect(world[1].second?.tip.mls.ownLeaf.encryptionKey != leaf?.encryptionKey)
        // New packages and groups have the new one.
        world.act(1, .createGroupChat(name: "New", peers: [], groupProtocol: .v2), "new")
        world.settle()
        let founded = world[1].model.groups.seconds.values.first { $0.data.name == "New" }
        #expect(founded?.tip.mls.ownLeaf.signatureKey != leaf?.signatureKey)
    }

    @Test func newInstallationNamesForeignInvitation() throws {
        var world = try self.started(2)
        // The state of the second account is lost; its former package is still on the relay.
        world.accounts[1].durable = DurableState()
        try world.restart(1)
        world.settle(offline: [0])
        let key = world[1].key
        let packages = world.relayed.filter { self.isPackage($0, of: .v2, by: key) }
        #expect(packages.count == 2 && Set(packages.map { $0.firstTag("d")?.value }).count == 2)
        let fresh = try #require(packages.last)
        world.relayed.removeAll { $0.id == fresh.id }
        world.act(0, .createGroupChat(name: "Lab", peers: [key], groupProtocol: .v2), "create")
        world.settle()
        #expect(world[1].model.groups.isEmpty)
        #expect(
            world[1].notes.contains {
                if case .refused("not_for_us", let detail) = $0 { detail.contains("new invitation") } else { false }
            })
    }

    @Test func secondGenerationRenewsAtRandomTime() throws {
        let day: Int64 = 86_400
        var days: Set<Int64> = []
        for number in 0..<20 {
            var reference = [UInt8](repeating: 0, count: 32)
            reference[6] = UInt8(number * 11)
            let package = StoredKeyPackage(
                reference: reference, bundle: Secret([]), slot: "", createdAt: 0, notAfter: 1_000_000_000)
            #expect(package.renewalMargin(.v1) == 14 * day)
            let margin = package.renewalMargin(.v2)
            #expect((14 * day...21 * day).contains(margin))
            days.insert(margin)
        }
        #expect(days.count > 10)
    }

    @Test func existingAccountGainsSecondGeneration() throws {
        var world = try ReducerWorld.group(2)
        // As an earlier version left it: without device key and packages of the second generation.
        for package in world[1].durable.state.keyPackages where package.generation == .v2 {
            world.accounts[1].durable.apply(.deleteKeyPackage(reference: package.reference))
            world.accounts[1].durable.apply(.putMemo(MemoName(.keyPackage, package.reference), nil))
        }
        world.accounts[1].durable.apply(.putMemo(MemoName(.deviceKey, []), nil))
        self.drop(.v2, of: 1, &world)
        let first = world[1].durable.state.keyPackages
        try world.restart(1)
        world.settle()
        #expect(world[1].durable.state.keyPackages.filter { $0.generation == .v1 } == first)
        #expect(world.relayed.contains { self.isPackage($0, of: .v2, by: world[1].key) })
        world.say(0, "still here")
        world.settle()
        #expect(world[1].texts == ["still here"])
    }

    // MARK: Remote signers

    @Test func newGroupWaitsForProof() throws {
        var world = try ReducerWorld(2, remote: [0], groupProtocol: .auto)
        for index in 0..<2 { world.reduce(index, .started) }
        world.accounts[0].signerAnswer = SignerError(.away, "no answer within 30 s")
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        #expect(world[0].model.groups.isEmpty && world[0].outcomes["create"] == nil)
        world.accounts[0].signerAnswer = nil
        world.advance(seconds: 120)
        #expect(self.generations(world, 0) == [.v2] && self.generations(world, 1) == [.v2])
        #expect(world.relayed.contains { self.isPackage($0, of: .v2, by: world[0].key) })
        #expect(!world.relayed.contains { $0.kind == .accountProof }, "the proof's event is never published")
    }

    @Test func refusedProofLeavesFirstGeneration() throws {
        var world = try ReducerWorld(2, remote: [0], groupProtocol: .auto)
        for index in 0..<2 { world.reduce(index, .started) }
        for (job, operation) in world[0].signerRequests {
            guard case .sign(let drafts) = operation, drafts.map(\.kind) == [.accountProof] else { continue }
            world.accounts[0].due.removeAll { $0 == .useKey(job: job, operation) }
            world.reduce(0, .keyUsed(job: job, .failure(SignerError(.refused, "not allowed"))))
        }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "auto")
        world.settle()
        #expect(self.generations(world, 0) == [.v1] && self.generations(world, 1) == [.v1])
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key], groupProtocol: .v2), "v2")
        world.settle()
        #expect(world[0].outcomes["v2"]?.failure == .signerRefused)
        // Another request asks the signer again.
        world.act(0, .publishKeyPackage, "publish")
        world.settle()
        #expect(world.relayed.contains { self.isPackage($0, of: .v2, by: world[0].key) })
    }

    @Test func refusalWhileWaitingLeavesFirstGeneration() throws {
        var world = try ReducerWorld(2, remote: [0], groupProtocol: .auto)
        for index in 0..<2 { world.reduce(index, .started) }
        world.accounts[0].signerAnswer = SignerError(.away, "no answer within 30 s")
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        #expect(world[0].model.groups.isEmpty && world[0].outcomes["create"] == nil)
        world.accounts[0].signerAnswer = SignerError(.refused, "not allowed")
        world.advance(seconds: 120)
        #expect(self.generations(world, 0) == [.v1])
    }

    @Test func alteredProofIsNotUsed() throws {
        var world = try ReducerWorld(1, remote: [0])
        world.reduce(0, .started)
        let asked = world[0].signerRequests.first { _, operation in
            if case .sign(let drafts) = operation { drafts.map(\.kind) == [.accountProof] } else { false }
        }
        let (job, operation) = try #require(asked)
        guard case .sign(let drafts) = operation else { return }
        var altered = try #require(drafts.first)
        altered.createdAt = altered.createdAt + 1
        let signed = altered.signed(by: world[0].keys, using: &world.random)
        world.reduce(0, .keyUsed(job: job, .success(.signed([signed]))))
        #expect(world[0].model.keyPackages.device.key == nil)
        #expect(world[0].model.keyPackages.device.refusal != nil)
    }
}
