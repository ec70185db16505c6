import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct KeyPackageReducerTests {
    private static let day: Int64 = 86_400

    private func started(_ count: Int = 1) throws -> ReducerWorld {
        var world = try ReducerWorld(count)
        for index in 0..<count { world.reduce(index, .started) }
        world.settle()
        return world
    }

    private func connect(_ world: inout ReducerWorld, _ index: Int) {
        world.reduce(index, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.settle()
    }

    private func packages(
        _ world: ReducerWorld, _ index: Int, _ kind: Kind, _ generation: GroupGeneration = .v1
    ) -> [Event] {
        world.relayed.filter {
            $0.kind == kind && $0.pubkey == world[index].key && GroupGeneration(announcedBy: $0) == generation
        }
    }

    /// The stored packages of a generation.
    private func stored(_ world: ReducerWorld, _ index: Int, _ generation: GroupGeneration) -> [StoredKeyPackage] {
        world[index].durable.state.keyPackages.filter { $0.generation == generation }
    }

    private func advance(_ world: inout ReducerWorld, days: Int64) {
        world.now += days * Self.day * 1000
    }

    // MARK: Announcing

    @Test func resendsSameEventsAfterRestart() throws {
        var world = try self.started()
        let first = world.relayed
        #expect(first.map(\.kind.rawValue).sorted() == [443, 10050, 10051, 30443])
        self.advance(&world, days: 3)
        try world.restart(0)
        // Only events that announce the package, since relays may have lost them; confirmed lists are not repeated.
        let again = world[0].publishing.map(\.event)
        #expect(Set(again) == Set(first.filter { $0.kind == .keyPackage || $0.kind == .addressableKeyPackage }))
        #expect(world[0].durable.state.keyPackages.count == 2)
        world.settle()
        #expect(world[0].durable.state.outbox.isEmpty)
    }

    @Test func resendsUnconfirmedRelayLists() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        let lists = world[0].publishing.map(\.event).filter { RelayLists.kinds.contains($0.kind) }
        #expect(lists.count == 2)
        #expect(
            lists.allSatisfy { $0.tags.map(\.values) == [["relay", ReducerWorld.relay.string]] && $0.content == "" })
        for row in world[0].durable.state.outbox { world.answer(0, row.id, .refused("blocked: no")) }
        #expect(world[0].durable.state.outbox.isEmpty)
        try world.restart(0)
        #expect(Set(world[0].publishing.map(\.event)).isSuperset(of: lists))
    }

    @Test func republishesPackageAndListsWhenRelaysChange() throws {
        var world = try self.started()
        let account = world[0]
        let relays = [ReducerWorld.relay, try RelayURL("wss://second.example")]
        let configuration = CoreConfiguration(relays: relays)
        world.accounts[0] = ReducerWorld.Account(
            keys: account.keys, configuration: configuration,
            model: try CoreModel(account: account.keys, configuration: configuration, stored: account.durable.state),
            durable: account.durable)
        world.reduce(0, .started)
        let events = world[0].publishing.map(\.event)
        for kind in [Kind.keyPackageRelays, .inboxRelays] {
            let list = try #require(events.first { $0.kind == kind })
            #expect(list.relayTags == relays && list.createdAt == ReducerWorld.start + 1)
        }
        // Packages of the second generation name no relays, so theirs is sent unchanged.
        let second = self.packages(world, 0, .addressableKeyPackage, .v2)
        #expect(second.count == 1 && events.contains(second[0]))
        let old = try #require(self.packages(world, 0, .keyPackage).first)
        let new = try #require(events.first { $0.kind == .keyPackage })
        #expect(new.content == old.content && new.createdAt > old.createdAt)
        #expect(new.firstTag("relays")?.values.dropFirst().elementsEqual(relays.map(\.string)) == true)
        #expect(!events.contains { $0.kind == .deletion }, "the old package must stay until a relay has the new one")
        world.settle()
        let deletion = try #require(world.relayed.first { $0.kind == .deletion })
        #expect(deletion.tags.map(\.values) == [["e", old.id.hex], ["k", "443"]])
    }

    @Test func firstGenerationHidesNoPackage() throws {
        var world = try self.started()
        #expect(self.packages(world, 0, .addressableKeyPackage).isEmpty)
        #expect(self.packages(world, 0, .addressableKeyPackage, .v2).count == 1)
        let (former, current) = try self.downgrade(&world)
        try world.restart(0)
        let again = world[0].publishing.map(\.event).filter { GroupGeneration(announcedBy: $0) == .v1 }
        let new = try #require(again.first { $0.kind == .keyPackage })
        #expect(!again.contains { $0.kind == .addressableKeyPackage })
        #expect(new.content == current.content && new.createdAt > current.createdAt)
        #expect(!world.relayed.contains { $0.kind == .deletion }, "not before a relay has the new one")
        world.settle()
        let deletions = world.relayed.filter { $0.kind == .deletion }.map { $0.tags.map(\.values) }
        #expect(
            Set(deletions) == [
                [["e", former.id.hex], ["k", "30443"]], [["e", current.id.hex], ["k", "443"]],
            ])
        // Only once.
        try world.restart(0)
        world.settle()
        #expect(world.relayed.filter { $0.kind == .deletion }.count == 2)
    }

    /// Makes the stored state that of an earlier version: without the second generation, and with the first one's package
    /// announced with kind 30443 too. Returns the events of that package.
    private func downgrade(_ world: inout ReducerWorld) throws -> (addressable: Event, legacy: Event) {
        for package in self.stored(world, 0, .v2) {
            world.accounts[0].durable.apply(.deleteKeyPackage(reference: package.reference))
            world.accounts[0].durable.apply(.putMemo(MemoName(.keyPackage, package.reference), nil))
        }
        world.accounts[0].durable.apply(.putMemo(MemoName(.deviceKey, []), nil))
        let package = try #require(self.stored(world, 0, .v1).first)
        let current = try #require(self.packages(world, 0, .keyPackage).first)
        let bundle = try KeyPackageBundle(stored: package.bundle)
        let former = KeyPackageEvents.events(
            for: bundle.keyPackage, slot: package.slot, relays: [ReducerWorld.relay], client: "pikabot",
            by: world[0].keys, now: ReducerWorld.start, using: &world.random
        ).addressable
        let record = KeyPackageRecord(events: [former, current])
        world.accounts[0].durable.apply(.putMemo(MemoName(.keyPackage, package.reference), record.memo))
        return (former, current)
    }

    /// The process ends after each step of the first start with an earlier version's state.
    @Test(arguments: [false, true]) func crashesDuringUpgradeAreHarmless(isRemote: Bool) throws {
        for steps in 0...6 {
            var world = try ReducerWorld(1, remote: isRemote ? [0] : [])
            world.reduce(0, .started)
            world.settle()
            _ = try self.downgrade(&world)
            try world.restart(0)
            for _ in 0..<steps {
                if let (job, operation) = world[0].signerRequests.first {
                    world.accounts[0].due.removeAll { $0 == .useKey(job: job, operation) }
                    world.sign(0, job, operation)
                } else if let (row, _) = world[0].publishing.first {
                    world.accounts[0].due.removeAll { effect in
                        if case .publish(let other, _, _) = effect { other == row } else { false }
                    }
                    world.accept(0, row)
                }
            }
            try world.restart(0)
            world.settle()
            #expect(self.stored(world, 0, .v1).count == 1 && self.stored(world, 0, .v2).count == 1, "\(steps)")
            let records = world[0].model.keyPackages.announcements
            #expect(records.allSatisfy { $0.events.count == 1 && $0.superseded.isEmpty }, "\(steps)")
            #expect(world[0].model.keyPackages.device.key != nil && world[0].durable.state.outbox.isEmpty, "\(steps)")
        }
    }

    @Test func deletesOldPackageOnceNewIsStored() throws {
        var world = try self.started()
        let old = try #require(self.packages(world, 0, .keyPackage).first)
        #expect(world[0].model.state.keyPackage.isStored && world[0].model.state.keyPackage.isAnswered)
        self.advance(&world, days: 71)
        world.reduce(0, .timer(.maintenance))
        let new = try #require(world[0].publishing.first { $0.event.kind == .keyPackage })
        #expect(new.event.id != old.id && world[0].model.state.keyPackage.event == new.event.id)
        #expect(!world[0].model.state.keyPackage.isStored, "only answers to the new package may count")
        for (row, _) in world[0].publishing { world.answer(0, row, .refused("blocked: no")) }
        world.settle()
        #expect(world[0].model.state.keyPackage.isRefused && world[0].durable.state.outbox.isEmpty)
        // Neither time, nor another refusal, nor a restart deletes it.
        try world.restart(0)
        for (row, _) in world[0].publishing { world.answer(0, row, .refused("blocked: no")) }
        world.reduce(0, .timer(.maintenance))
        #expect(!world[0].durable.state.outbox.contains { $0.purpose == .deletion })
        #expect(!world.relayed.contains { $0.kind == .deletion })
        world.accounts[0].due = []
        world.act(0, .publishKeyPackage)
        world.settle()
        #expect(world[0].model.state.keyPackage.isStored)
        let deletions = world.relayed.filter { $0.kind == .deletion }
        #expect(try deletions.map { try Deletion($0).eventIDs } == [[old.id]])
        // Only once: a further restart repeats the announcement only.
        try world.restart(0)
        world.settle()
        #expect(world.relayed.filter { $0.kind == .deletion }.count == 1)
    }

    @Test func republishingRetriesRelaysAtOnce() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        for (row, _) in world[0].publishing { world.answer(0, row, .unreachable("no connection")) }
        let relay = ReducerWorld.relay
        #expect(
            world[0].model.state.keyPackage.keyPackage
                == [KeyPackageAnnouncement.RelayAnswer(relay: relay, answer: .unreachable("no connection"))])
        #expect(world[0].model.state.keyPackage.relayLists.count == 1)
        world.accounts[0].due = []
        let before = world[0].model.state.keyPackage.number
        world.act(0, .publishKeyPackage)
        #expect(world[0].publishing.count == 4 && world[0].model.state.keyPackage.number == before + 1)
        #expect(world[0].model.state.keyPackage.keyPackage.map(\.answer) == [.pending])
        // While they are in flight, another request sends nothing.
        world.accounts[0].due = []
        world.act(0, .publishKeyPackage)
        #expect(world[0].publishing.isEmpty)
    }

    /// A package of the second generation names no relays: its event stays the same when they change.
    @Test func announcementReachesNewRelayDuringAttempt() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        let account = world[0]
        let former = try #require(account.publishing.first { GroupGeneration(announcedBy: $0.event) == .v2 })
        let other = try RelayURL("wss://second.example")
        let configuration = CoreConfiguration(relays: [ReducerWorld.relay, other], publishesKeyPackage: false)
        world.accounts[0] = ReducerWorld.Account(
            keys: account.keys, configuration: configuration,
            model: try CoreModel(account: account.keys, configuration: configuration, stored: account.durable.state),
            durable: account.durable)
        world.reduce(0, .started)
        // The stored row, which is in flight to the first relay only.
        #expect(world[0].durable.state.outbox.first { $0.id == former.row }?.relays == [ReducerWorld.relay])
        #expect(world[0].publishing.map(\.row).contains(former.row))
        world.accounts[0].due = []
        world.act(0, .publishKeyPackage)
        #expect(world[0].publishing.map(\.row).contains(former.row))
        #expect(world[0].durable.state.outbox.first { $0.id == former.row }?.relays == configuration.relays)
        // The former attempt's end and refusal do not end the new one.
        world.reduce(
            0, .published(row: former.row, PublishReport(relay: ReducerWorld.relay, outcome: .refused("blocked: no"))),
            .publishEnded(row: former.row, relays: [ReducerWorld.relay]))
        world.reduce(0, .published(row: former.row, PublishReport(relay: other, outcome: .accepted)))
        #expect(world[0].model.state.keyPackage.isSecondStored)
        #expect(!world[0].durable.state.outbox.contains { $0.id == former.row })
    }

    @Test func keyPackagesUseTheirOwnRelays() throws {
        var world = try ReducerWorld(1)
        let other = try RelayURL("wss://packages.example")
        world.accounts[0].configuration.keyPackageRelays = [other]
        try world.restart(0)
        let rows = world[0].durable.state.outbox
        let home = ReducerWorld.relay
        let lists = [
            Kind.keyPackageRelays: [["relay", other.string]], .inboxRelays: [["relay", home.string]],
        ]
        #expect(Set(rows.map(\.event.kind)) == [.keyPackage, .addressableKeyPackage, .keyPackageRelays, .inboxRelays])
        for row in rows {
            if let tags = lists[row.event.kind] {
                // Searches for either kind must find it.
                #expect(row.relays == [other, home])
                #expect(row.event.tags.map(\.values) == tags)
            } else {
                #expect(row.relays == [other])
                let stated = row.event.firstTag("relays")?.values
                #expect(stated == (GroupGeneration(announcedBy: row.event) == .v1 ? ["relays", other.string] : nil))
            }
        }
        // Other accounts' packages are searched there too; relays of this account's groups only serve messages.
        var search = KeyPackageSearch([world[0].key], world[0].configuration)
        #expect(search.nextRequests().map(\.relay) == [other, ReducerWorld.relay])
    }

    @Test func keepsRelaysThatOthersWroteIntoList() throws {
        var world = try self.started()
        let home = ReducerWorld.relay.string
        let foreign = [
            ["r", "wss://social.example"], ["r", "wss://reading.example", "read"], ["r", home, "read"],
        ]
        world.post(
            .relayList, by: world[0].keys, "", tags: foreign.map { Nostr.Tag(values: $0) },
            at: ReducerWorld.start + 50)
        #expect(world.relayed.count { $0.kind == .relayList } == 1, "the list must be read before it is written")
        self.connect(&world, 0)
        world.settle()
        let list = try #require(world.newest(.relayList, of: 0))
        #expect(list.tags.map(\.values) == [["r", home]] + foreign.prefix(2))
        #expect(list.createdAt == ReducerWorld.start + 51)
        // They stay when this account's relays change.
        let other = try RelayURL("wss://other.example")
        var configuration = world[0].model.configuration
        configuration.relays = [other]
        world.accounts[0].configuration = configuration
        try world.restart(0)
        world.settle()
        #expect(world.newest(.relayList, of: 0) == list, "the list must be read before it is written")
        world.act(0, .refreshProfile)
        world.settle()
        let changed = try #require(world.newest(.relayList, of: 0))
        #expect(changed.tags.map(\.values) == [["r", other.string]] + foreign)
        // The same list again has no effect.
        let count = world.relayed.count { $0.kind == .relayList }
        world.act(0, .refreshProfile)
        world.settle()
        #expect(world.relayed.count { $0.kind == .relayList } == count)
    }

    @Test func relaysOfOtherProgramsReceivePackage() throws {
        var world = try self.started()
        let other = try RelayURL("wss://social.example")
        let foreign = [["r", other.string], ["r", "wss://reading.example", "read"]]
        world.post(
            .relayList, by: world[0].keys, "", tags: foreign.map { Nostr.Tag(values: $0) },
            at: ReducerWorld.start + 50)
        world.reduce(0, .relay(.state(relay: ReducerWorld.relay, .connected)))
        func offers() -> [Event] {
            world[0].due.compactMap { effect in
                if case .publish(_, let event, [other]) = effect { event } else { nil }
            }
        }
        for _ in 0..<3 where offers().isEmpty { world.catchUp(0) }
        let package = try #require(self.packages(world, 0, .addressableKeyPackage, .v2).first)
        #expect(Set(offers().map(\.kind)) == [.addressableKeyPackage, .relayList, .inboxRelays])
        #expect(offers().contains(package) && offers().count == 3)
        // Nobody waits for these relays, and their refusals change nothing.
        #expect(world[0].model.state.keyPackage.keyPackage.allSatisfy { $0.relay == ReducerWorld.relay })
        for row in world[0].durable.state.outbox where row.purpose == .offer {
            world.reduce(
                0, .published(row: row.id, PublishReport(relay: other, outcome: .refused("blocked: pay first"))),
                .publishEnded(row: row.id, relays: [other]))
        }
        #expect(!world[0].durable.state.outbox.contains { $0.purpose == .offer })
        // Another reading of the same list offers nothing.
        world.settle()
        world.act(0, .refreshProfile)
        world.settle()
        #expect(!world[0].durable.state.outbox.contains { $0.purpose == .offer } && offers().isEmpty)
    }

    @Test func resignsAnnouncementRefusedAsOld() throws {
        var world = try self.started()
        let old = try #require(self.packages(world, 0, .keyPackage).first)
        world.now += 7_200_000
        try world.restart(0)
        let row = try #require(world[0].publishing.first { $0.event == old }).row
        world.accounts[0].due = []
        world.answer(0, row, .refused("invalid: too old"))
        let new = try #require(world[0].publishing.first { $0.event.kind == .keyPackage })
        #expect(new.event.content == old.content && new.event.createdAt == ReducerWorld.start + 7200)
        // A refusal of a new package has another reason.
        world.accounts[0].due = []
        world.answer(0, new.row, .refused("blocked: no"))
        #expect(world[0].publishing.isEmpty)
    }

    // MARK: Rotation

    @Test func replacesPackageTwoWeeksBeforeExpiry() throws {
        var world = try self.started()
        let old443 = try #require(self.packages(world, 0, .keyPackage).first)
        self.advance(&world, days: 69)
        world.reduce(0, .timer(.maintenance))
        #expect(!world[0].publishing.contains { GroupGeneration(announcedBy: $0.event) == .v1 })
        self.advance(&world, days: 1)
        let step = world.reduce(0, .timer(.maintenance))
        #expect(step.effects.contains(.wake(.maintenance, atMilliseconds: world.now + 21_600_000)))
        world.settle()
        let new = try #require(self.packages(world, 0, .keyPackage).last)
        #expect(new.id != old443.id && new.content != old443.content)
        #expect(new.firstTag("i")?.value != old443.firstTag("i")?.value)
        let deletion = try #require(world.relayed.first { $0.kind == .deletion })
        #expect(try Deletion(deletion).eventIDs == [old443.id])
        // Peers may hold copies of the old one until it expires.
        #expect(self.stored(world, 0, .v1).count == 2)
        let count = world.relayed.count
        world.reduce(0, .timer(.maintenance))
        world.settle()
        #expect(world.relayed.count == count)
    }

    @Test func replacesUsedPackageAndDeletesItsEvent() throws {
        var world = try self.started(3)
        let used = try #require(self.packages(world, 1, .keyPackage).first)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        let fresh = self.packages(world, 1, .keyPackage)
        try #require(fresh.count == 2)
        #expect(fresh[1].createdAt > fresh[0].createdAt)
        let deletions = world.relayed.filter { $0.kind == .deletion && $0.pubkey == world[1].key }
        #expect(try deletions.map { try Deletion($0).eventIDs } == [[used.id]])
        // The founder's package was not used.
        #expect(self.packages(world, 0, .keyPackage).count == 1)
        // A pending invitation with the old package is still accepted, and changes nothing else.
        let late = try MarmotGroup.create(
            GroupData(
                nostrGroupID: try #require(Bytes32([UInt8](repeating: 7, count: 32))), name: "Late", description: "",
                admins: [world[2].key], relays: [ReducerWorld.relay]), founder: world[2].key,
            inviting: [try Invitee(used, now: ReducerWorld.start)], client: "test", now: ReducerWorld.start,
            using: &world.random)
        let wrap = try GiftWrap.wrap(
            try #require(late.welcomes.first).rumor, from: world[2].keys, to: world[1].key, now: ReducerWorld.start,
            using: &world.random)
        world.receive(1, wrap)
        world.settle()
        #expect(world[1].model.groups.count == 2)
        #expect(self.packages(world, 1, .keyPackage).count == 2)
        try world.restart(1)
        #expect(world[1].model.keyPackages.current(.v1, at: ReducerWorld.start) != nil)
        #expect(Set(world[1].publishing.map(\.event)).contains(fresh[1]))
        #expect(!world[1].publishing.contains { $0.event == used })
    }

    @Test func failedWelcomeConsumesNoKeyPackage() throws {
        var world = try self.started(2)
        let package = try #require(self.packages(world, 1, .keyPackage).first)
        var (_, welcomes) = try MarmotGroup.create(
            GroupData(
                nostrGroupID: try #require(Bytes32([UInt8](repeating: 7, count: 32))), name: "", description: "",
                admins: [world[0].key], relays: [ReducerWorld.relay]), founder: world[0].key,
            inviting: [try Invitee(package, now: ReducerWorld.start)], client: "test", now: ReducerWorld.start,
            using: &world.random)
        // Sent by an account that is not an admin of the group.
        let stranger = KeyPair.generate(using: &world.random)
        var rumor = welcomes.removeFirst().rumor
        rumor.pubkey = stranger.publicKey
        world.receive(
            1, try GiftWrap.wrap(rumor, from: stranger, to: world[1].key, now: ReducerWorld.start, using: &world.random)
        )
        #expect(world[1].notes.contains { if case .refused("not_admin", _) = $0 { true } else { false } })
        #expect(world[1].model.groups.isEmpty && world[1].publishing.isEmpty)
        #expect(world[1].model.keyPackages.announcements.allSatisfy { $0.usedAt == nil && $0.retiredAt == nil })
    }

    // MARK: Deletion

    @Test func deletesUsedKeysAfterWelcomeWindow() throws {
        var world = try ReducerWorld.group(2)
        self.connect(&world, 1)
        #expect(self.stored(world, 1, .v1).count == 2)
        self.advance(&world, days: 4)
        world.reduce(1, .timer(.maintenance))
        #expect(self.stored(world, 1, .v1).count == 2)
        world.now += 1000
        world.reduce(1, .timer(.maintenance))
        #expect(self.stored(world, 1, .v1).count == 1)
        #expect(world[1].model.keyPackages.references == world[1].durable.state.keyPackages.map(\.reference))
        #expect(world[1].durable.state.memos.keys.filter { $0.kind == .keyPackage }.count == 2)
        #expect(world[1].model.keyPackages.current(.v1, at: world.time) != nil)
        try world.restart(1)
        #expect(world[1].model.keyPackages.announcements.count == 2)
    }

    @Test func keepsUsedKeysUntilBacklogIsRead() throws {
        var world = try ReducerWorld.group(2)
        self.advance(&world, days: 10)
        try world.restart(1)
        world.settle()
        #expect(self.stored(world, 1, .v1).count == 2)
        self.connect(&world, 1)
        world.reduce(1, .timer(.maintenance))
        #expect(self.stored(world, 1, .v1).count == 2)
        world.now += 3_600_000
        world.reduce(1, .timer(.maintenance))
        #expect(self.stored(world, 1, .v1).count == 1)
    }

    @Test func deletesUnusedKeysDaysAfterExpiry() throws {
        var world = try self.started()
        self.connect(&world, 0)
        self.advance(&world, days: 71)
        world.reduce(0, .timer(.maintenance))
        world.settle()
        #expect(self.stored(world, 0, .v1).count == 2)
        self.advance(&world, days: 16)
        world.reduce(0, .timer(.maintenance))
        #expect(self.stored(world, 0, .v1).count == 2)
        self.advance(&world, days: 2)
        world.reduce(0, .timer(.maintenance))
        #expect(self.stored(world, 0, .v1).count == 1)
    }

    @Test func keepsKeysOfOpenInvitation() throws {
        var world = try ReducerWorld(3, invites: .nobody)
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        for founder in [0, 2] {
            world.act(founder, .createGroupChat(name: "by \(founder)", peers: [world[1].key]), "create")
            world.settle()
        }
        self.connect(&world, 1)
        let invites = world[1].model.state.invites
        #expect(invites.compactMap(\.group?.name) == ["by 0", "by 2"])
        world.act(1, .acceptInvite(wrapper: invites[0].wrapper), "first")
        world.settle()
        self.advance(&world, days: 20)
        world.reduce(1, .timer(.maintenance))
        world.act(1, .acceptInvite(wrapper: invites[1].wrapper), "second")
        #expect(world[1].outcomes["second"] == .done(chatID: world[2].chatID))
        world.settle()
        world.reduce(1, .timer(.maintenance))
        #expect(self.stored(world, 1, .v1).count == 1)
    }

    /// Every package of the second generation is one of last resort: peers use it as long as relays lead to it.
    @Test func keepsUsedKeysUntilSuccessorIsStored() throws {
        var step = CoreStep.at(ReducerWorld.start.milliseconds)
        let keys = KeyPair.generate(using: &step.random)
        let configuration = CoreConfiguration(relays: [ReducerWorld.relay])
        var packages = KeyPackages()
        let template = try packages.device.template(for: keys.publicKey, now: step.now, using: &step.random)
        let proof = try #require(template).signed(by: keys, using: &step.random)
        _ = try packages.device.prove(with: proof, &step)
        func announce(_ package: StoredKeyPackage, _ step: inout CoreStep) throws -> Event {
            let drafts = try packages.drafts(
                of: package.reference, configuration, by: keys.publicKey, now: step.now)
            let event = try #require(drafts?.first).signed(by: keys, using: &step.random)
            _ = packages.announce([event], of: package.reference, &step)
            return event
        }
        let first = try packages.make(.v2, for: keys.publicKey, &step)
        let used = try #require(first)
        _ = try announce(used, &step)
        let mustRotate = packages.consume(used, &step)
        #expect(mustRotate)
        let second = try packages.make(.v2, for: keys.publicKey, &step)
        let successor = try #require(second)
        _ = packages.retireAll(except: successor, &step)
        // The account's signer does not announce the successor for days.
        var later = CoreStep.at((ReducerWorld.start + 10 * Self.day).milliseconds)
        _ = packages.deleteExpired(awaited: [], &later)
        #expect(packages.references == [used.reference, successor.reference])
        let event = try announce(successor, &later)
        _ = packages.deleteExpired(awaited: [], &later)
        #expect(packages.references == [used.reference, successor.reference])
        packages.noteStored(event, &later)
        _ = packages.deleteExpired(awaited: [], &later)
        #expect(packages.references == [successor.reference])
    }
}
