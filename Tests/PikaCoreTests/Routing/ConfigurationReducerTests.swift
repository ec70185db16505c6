import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct ConfigurationReducerTests {
    private static let other: RelayURL = {
        do { return try RelayURL("wss://other.example") } catch { preconditionFailure("\(error)") }
    }()

    private func started(_ selfUpdate: SelfUpdatePolicy = .never) throws -> ReducerWorld {
        var world = try ReducerWorld(2, selfUpdate: selfUpdate)
        for index in 0..<2 { world.reduce(index, .started) }
        world.connect(0)
        world.settle()
        return world
    }

    /// The kinds and relays of the sent events.
    private func departures(_ step: CoreStep) -> [(kind: Kind, relays: [RelayURL])] {
        step.effects.compactMap {
            if case .publish(_, let event, let relays) = $0 { (event.kind, relays) } else { nil }
        }
    }

    @Test func refusesImmutableSettingsByName() throws {
        var world = try self.started()
        let before = world[0].model.configuration
        var new = before
        new.relays = [Self.other]
        for (name, change) in [
            ("client", { $0.client = "another" }), ("keepsInbox", { $0.keepsInbox.toggle() }),
            ("detectsCopies", { $0.detectsCopies.toggle() }),
        ] as [(String, (inout CoreConfiguration) -> Void)] {
            var refused = new
            change(&refused)
            let step = world.act(0, .reloadConfiguration(refused), name)
            #expect(world[0].outcomes[name]?.failure == .needsRestart)
            #expect(world[0].model.state.toast?.hasPrefix("\(name) cannot change") == true)
            #expect(step.changes.isEmpty && step.effects.count == 1)
            #expect(world[0].model.configuration == before)
        }
        // The same configuration again changes nothing.
        let step = world.act(0, .reloadConfiguration(before))
        #expect(step.changes.isEmpty && step.effects.count == 1)
    }

    @Test func connectsNewRelaysAndPublishesLists() throws {
        var world = try self.started()
        #expect(world[0].model.state.relays.map(\.isCaughtUp) == [true])
        var new = world[0].model.configuration
        new.relays = [Self.other]
        world.now += 1000
        let step = world.act(0, .reloadConfiguration(new))
        #expect(world[0].outcomes["r"] == .done(chatID: nil))
        #expect(
            world[0].model.state.relays == [.init(url: Self.other, connection: .disconnected, isCaughtUp: false)])
        #expect(step.effects.contains(.setRelays([Self.other])))
        let sent = self.departures(step)
        // The lists also go to their old relays; the key package goes to the relays that the lists name.
        let lists = sent.filter { RelayLists.kinds.contains($0.kind) }
        #expect(lists.count == 3 && lists.allSatisfy { $0.relays == [Self.other, ReducerWorld.relay] })
        let packages = sent.filter { $0.kind == .keyPackage || $0.kind == .addressableKeyPackage }
        #expect(packages.count == 2 && packages.allSatisfy { $0.relays == [Self.other] })
        // Some relays keep the older of two lists with the same second.
        let newest = world.relayed.filter { $0.kind == .inboxRelays && $0.pubkey == world[0].key }.map(\.createdAt)
        #expect(world[0].model.keyPackages.relayLists[.inboxRelays]?.event.createdAt ?? 0 > newest.max() ?? 0)
        // Restored: the original relay is first, and the intermediate one is notified.
        new.relays = [ReducerWorld.relay]
        world.settle()
        let back = self.departures(world.act(0, .reloadConfiguration(new)))
        #expect(
            back.filter { $0.kind == .inboxRelays }.map(\.relays) == [[ReducerWorld.relay, Self.other]])
    }

    @Test func keepsUnconfiguredRelayOfGroup() throws {
        var world = try ReducerWorld.group(2)
        world.connect(1)
        var new = world[1].model.configuration
        new.relays = [Self.other]
        let step = world.act(1, .reloadConfiguration(new))
        #expect(step.effects.contains(.setRelays([Self.other, ReducerWorld.relay])))
        #expect(world[1].model.state.relays.map(\.url) == [Self.other, ReducerWorld.relay])
        #expect(world[1].model.state.relays.map(\.connection) == [.disconnected, .connected])
        #expect(world[1].model.state.relays[1].isCaughtUp)
        // A relay that is removed while it is read blocks nothing.
        world.reduce(1, .relay(.state(relay: Self.other, .connected)))
        #expect(world[1].model.catchUp.relays == [Self.other])
        new.relays = []
        world.act(1, .reloadConfiguration(new))
        #expect(world[1].model.catchUp.relays.isEmpty)
        #expect(world[1].model.state.relays.map(\.url) == [ReducerWorld.relay])
        world.say(0, "heard")
        world.settle()
        #expect(world[1].texts == ["heard"])
    }

    @Test func publishesKeyPackageOnceEnabled() throws {
        var world = try ReducerWorld(1)
        world.accounts[0].model.configuration.publishesKeyPackage = false
        #expect(self.departures(world.reduce(0, .started)).isEmpty)
        var new = world[0].model.configuration
        new.relays = [Self.other]
        // Nothing was announced before, so a change of relays announces nothing.
        #expect(self.departures(world.act(0, .reloadConfiguration(new))).isEmpty)
        new.publishesKeyPackage = true
        #expect(self.departures(world.act(0, .reloadConfiguration(new))).count == 4)
        new.publishesKeyPackage = false
        #expect(self.departures(world.act(0, .reloadConfiguration(new))).isEmpty)
    }

    @Test func newInvitePolicyAppliesToNextInvitation() throws {
        var world = try ReducerWorld(2, invites: .nobody)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "one", peers: [world[1].key]), "one")
        world.settle()
        #expect(world[1].model.groups.isEmpty && world[1].model.state.invites.count == 1)
        var new = world[1].model.configuration
        new.invites = .only([world[0].key])
        world.act(1, .reloadConfiguration(new))
        world.settle()
        // A pending invitation keeps waiting for its decision.
        #expect(world[1].model.groups.isEmpty && world[1].model.state.invites.count == 1)
        world.now += 1000
        world.act(0, .createGroupChat(name: "two", peers: [world[1].key]), "two")
        world.settle()
        #expect(world[1].model.state.chatList.map(\.name) == ["two"])
    }

    @Test func retentionIsAppliedAtOnce() throws {
        var world = try ReducerWorld.group(2)
        for number in 0..<5 {
            world.now += 1000
            world.say(0, "\(number)")
        }
        world.settle()
        // Events held by handlers are never dropped, so let handlers hold few.
        world.accounts[1].configuration.retention.maximumUnhandled = 6
        try world.restart(1)
        let waiting = world[1].model.inbox.count
        #expect(waiting >= 5 && world[1].model.inbox.handedOutCount == 1)
        #expect(world[1].durable.messages.count == 5)
        var new = world[1].model.configuration
        new.retention.newestMessages = 2
        new.retention.maximumUnhandled = 4
        let step = world.act(1, .reloadConfiguration(new))
        #expect(world[1].model.inbox.count == 4)
        #expect(world[1].durable.state.inbox.map(\.id).sorted() == world[1].model.inbox.ids)
        #expect(step.effects.filter { $0 == .note(.droppedEvent(reason: "too_many")) }.count == waiting - 4)
        world.settle()
        #expect(world[1].durable.messages.map(\.rumor.content).sorted() == ["3", "4"])
    }

    @Test func keysAreRenewedUnderTheNewPolicy() throws {
        var world = try ReducerWorld.group(2)
        world.connect(1)
        world.settle()
        let epoch = try #require(world[0].group?.epoch)
        world.advance(seconds: 9 * 86_400)
        #expect(world[0].group?.epoch == epoch)
        var new = world[1].model.configuration
        new.selfUpdate = SelfUpdatePolicy(afterJoining: nil, every: .seconds(86_400))
        world.act(1, .reloadConfiguration(new))
        world.connect(1)
        world.advance(seconds: 2 * 86_400)
        #expect(world[0].group?.epoch ?? 0 > epoch)
        let renewed = try #require(world[0].group?.epoch)
        new.selfUpdate = .never
        world.act(1, .reloadConfiguration(new))
        world.advance(seconds: 9 * 86_400)
        #expect(world[0].group?.epoch == renewed)
    }

    @Test func foregroundedOnlyReconnectsRelays() throws {
        var world = try self.started()
        world.act(0, .pushScreen(.newChat))
        world.act(0, .openChat(chatID: "none"))
        let before = world[0].model.state
        let step = world.act(0, .foregrounded, "fore")
        #expect(step.effects == [.reconnect, .finish(RequestID(rawValue: "fore"), .done(chatID: nil))])
        #expect(step.changes.isEmpty)
        #expect(world[0].model.state == before)
    }
}
