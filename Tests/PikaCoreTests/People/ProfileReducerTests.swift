import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct ProfileReducerTests {
    private let relay = ReducerWorld.relay

    @Test func requestsAllChatProfilesAtOnce() throws {
        var world = try ReducerWorld.group(3)
        world.post(.metadata, by: world[1].keys, #"{"name":"bob","display_name":"Bob B."}"#)
        let step = world.reduce(0, .relay(.state(relay: self.relay, .connected)))
        let peers = [world[1].key, world[2].key].sorted()
        let own = Filter(authors: [world[0].key], kinds: [.metadata, .followList, .relayList])
        #expect(step.effects.contains(.fetch(.own(reading: 1), [own], from: [self.relay])))
        #expect(
            step.effects.contains(
                .fetch(.profiles(search: 1), [Filter(authors: peers, kinds: [.metadata])], from: [self.relay])))
        #expect(world.names(0) == [nil, nil, nil])
        world.settle()
        #expect(world.names(0) == [nil, "Bob B.", nil])
        // The absence of a profile is stored too.
        #expect(world.memos(.profile, 0) == 3)
        #expect(world[0].model.people.profiles.due.isEmpty && !world[0].model.people.profiles.isSearching)
        try world.restart(0)
        #expect(world.names(0) == [nil, "Bob B.", nil])
        #expect(world[0].model.shownName(of: world[1].key) == "Bob B.")
        #expect(world[0].model.shownName(of: world[2].key) == String(world[2].key.npub.prefix(12)))
    }

    @Test func disabledReadsProfilesOnlyOnDemand() throws {
        var world = try ReducerWorld.group(2)
        var configuration = world[0].model.configuration
        configuration.readsProfiles = false
        world.act(0, .reloadConfiguration(configuration))
        world.connect(0)
        #expect(world.requestedProfiles(0).isEmpty)
        world.act(0, .openPeerProfile(world[1].key))
        #expect(world.requestedProfiles(0) == [[world[1].key]])
    }

    @Test func requestsProfileAgainOnlyWhenStale() throws {
        var world = try ReducerWorld.group(2)
        world.connect(0)
        world.settle()
        world.reduce(0, .relay(.state(relay: self.relay, .disconnected)))
        world.reduce(0, .relay(.state(relay: self.relay, .connected)))
        #expect(world.requestedProfiles(0).isEmpty)
        world.settle()
        world.post(.metadata, by: world[1].keys, #"{"name":"late"}"#, at: ReducerWorld.start + 1)
        world.advance(seconds: ProfileDirectory.lifetime - 10)
        #expect(world.names(0) == [nil, nil])
        world.advance(seconds: 21_600)
        #expect(world.names(0) == [nil, "late"])
    }

    @Test func requestsManyProfilesInBatches() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        let peers = (0..<250).map { _ in KeyPair.generate(using: &world.random).publicKey }
        world.post(.followList, by: world[0].keys, "", tags: peers.map { .user($0) })
        world.connect(0)
        #expect(world.requestedProfiles(0).map(\.count) == [100])
        var sizes: [Int] = []
        while let batch = world.requestedProfiles(0).first {
            sizes.append(batch.count)
            world.catchUp(0)
        }
        #expect(sizes == [100, 100, 50])
        #expect(world[0].model.state.followList.map(\.profile.publicKey) == peers)
        #expect(world.memos(.profile, 0) == 251)
    }

    @Test func prefersNewestProfileThenLowerID() throws {
        var world = try ReducerWorld.group(2)
        let names = (0..<4).map { "n\($0)" }
        let events = names.map { world.post(.metadata, by: world[1].keys, #"{"name":"\#($0)"}"#, at: 100) }
        world.post(.metadata, by: world[1].keys, #"{"name":"old"}"#, at: 99)
        world.relayed.shuffle(using: &world.random)
        world.connect(0)
        world.settle()
        let lowest = try #require(zip(names, events).min { $0.1.id < $1.1.id }?.0)
        #expect(world.names(0) == [nil, lowest])
        world.post(.metadata, by: world[1].keys, #"{"name":"new"}"#, at: 101)
        world.now += 100_000
        world.act(0, .refreshProfile)
        world.settle()
        #expect(world.names(0) == [nil, "new"])
        #expect(world[0].outcomes["r"] == .done(chatID: nil))
    }

    @Test func unansweringRelayKeepsKnownProfile() throws {
        var world = try ReducerWorld.group(2)
        world.post(.metadata, by: world[1].keys, #"{"name":"bob"}"#)
        world.connect(0)
        world.settle()
        world.now += 90_000_000
        world.act(0, .refreshProfile)
        #expect(world.requestedProfiles(0) == [[world[1].key]])
        world.accounts[0].due = []
        let search = FetchPurpose.profiles(search: world[0].model.people.profiles.lastSearch)
        let own = FetchPurpose.own(reading: world[0].model.people.own.lastReading)
        world.reduce(0, .fetched(search, [self.relay: .failed("down")]), .fetched(own, [self.relay: .failed("down")]))
        #expect(world[0].outcomes["r"]?.failure == .noRelay)
        #expect(world.names(0) == [nil, "bob"])
        #expect(world[0].model.people.profiles.due == [world[1].key])
        // An empty answer does not count either.
        world.relayed = []
        world.reduce(0, .relay(.state(relay: self.relay, .connected)))
        #expect(world.requestedProfiles(0) == [[world[1].key]])
        world.settle()
        #expect(world.names(0) == [nil, "bob"])
    }

    @Test func requestsNewMemberProfileImmediately() throws {
        var world = try ReducerWorld(3)
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        for index in 0..<2 { world.connect(index) }
        world.post(.metadata, by: world[1].keys, #"{"name":"bob"}"#)
        world.post(.metadata, by: world[2].keys, #"{"name":"carol"}"#)
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]))
        world.settle()
        #expect(world.names(0) == [nil, "bob", nil])
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]))
        world.settle()
        #expect(world.names(0) == [nil, "bob", "carol"])
        #expect(world.names(1) == [nil, nil, "carol"])
    }

    @Test func updatesSenderNamesOfMessages() throws {
        var world = try ReducerWorld.group(2)
        world.say(1, "hello")
        world.settle()
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        #expect(world[0].model.state.currentChat?.messages.map(\.senderName) == [String(world[1].key.npub.prefix(12))])
        world.post(.metadata, by: world[1].keys, #"{"name":"bob"}"#)
        world.connect(0)
        world.settle()
        #expect(world[0].model.state.currentChat?.messages.map(\.senderName) == ["bob"])
        world.say(1, "again")
        world.settle()
        #expect(world[0].model.state.currentChat?.messages.map(\.senderName) == ["bob", "bob"])
    }

    @Test func unchangedProfileLeavesStateUnchanged() throws {
        var world = try ReducerWorld.group(2)
        world.post(.metadata, by: world[1].keys, #"{"name":"bob"}"#)
        world.connect(0)
        world.settle()
        world.now += 90_000_000
        world.reduce(0, .timer(.maintenance))
        _ = world.accounts[0].model.published.takeChange()
        let before = world[0].model.state
        world.catchUp(0)
        #expect(world[0].model.state == before && !world[0].model.published.isChanged)
    }

    @Test func requestsStayWithinTheBudget() throws {
        var random = SplitMix64(seed: 5)
        let people = (0..<7000).map { _ in KeyPair.generate(using: &random).publicKey }
        var directory = ProfileDirectory()
        var now = ReducerWorld.start.milliseconds
        // Answers every request at once, until none follows; returns the number of requests and the timers.
        func run(_ directory: inout ProfileDirectory, at now: Int64) -> (requests: Int, wakes: [Int64]) {
            var (requests, wakes): (Int, [Int64]) = (0, [])
            while true {
                var step = CoreStep.at(now)
                directory.sendRequest(to: [self.relay], &step)
                for case .wake(.profiles, let time) in step.effects { wakes.append(time) }
                guard directory.isSearching else { return (requests, wakes) }
                requests += 1
                _ = directory.receive(
                    [self.relay: .events([])], ofSearch: directory.lastSearch, account: people[0], &step)
            }
        }
        directory.want(people, isUrgent: false, now: ReducerWorld.start)
        let first = run(&directory, at: now)
        #expect(first.requests == 60 && first.wakes == [now + 60_000])
        #expect(directory.due.count == 1000)
        for minute in 1...10 {
            now += 60_000
            directory.endBudgetPause()
            let next = run(&directory, at: now)
            let wakes: [Int64] = minute < 10 ? [now + 60_000] : []
            #expect(next.requests == 1 && next.wakes == wakes)
        }
        #expect(directory.due.isEmpty)
    }

    @Test func ignoresUnrequestedProfiles() throws {
        var world = try ReducerWorld.group(2)
        let event = world.post(.metadata, by: world[1].keys, #"{"name":"bob"}"#)
        let stranger = KeyPair.generate(using: &world.random)
        let other = world.post(.metadata, by: stranger, #"{"name":"stranger"}"#)
        let before = world[0].model.state
        let step = world.reduce(
            0, .fetched(.profiles(search: 7), [self.relay: .events([event])]),
            .fetched(.own(reading: 7), [self.relay: .events([event])]))
        #expect(step.changes.isEmpty && step.effects.isEmpty && world[0].model.state == before)
        world.reduce(0, .relay(.state(relay: self.relay, .connected)))
        let search = FetchPurpose.profiles(search: 1)
        let own = FetchPurpose.own(reading: 1)
        world.reduce(
            0, .fetched(search, [self.relay: .events([other, event])]),
            .fetched(own, [self.relay: .events([other, event])]))
        #expect(world.names(0) == [nil, "bob"])
        #expect(world[0].model.people.profiles[stranger.publicKey] == nil)
        #expect(world[0].model.state.myProfile == nil)
    }

    @Test func truncatesHostileProfiles() throws {
        var world = try ReducerWorld.group(2)
        let long = String(repeating: "x", count: 60_000)
        world.post(.metadata, by: world[1].keys, #"{"name":"\#(long)","about":"a\u0000b\u202ec","n":\#(long.count)}"#)
        world.connect(0)
        world.settle()
        #expect(world.names(0)[1]?.count == DisplayText.nameLimit)
        let memo = try #require(world[0].durable.state.memos[MemoName(.profile, world[1].key.bytes)])
        #expect(memo.count < 1000)
        #expect(world[0].model.profile(of: world[1].key).about == "abc")
        for (number, text) in ["[]", "", "{", #"{"name":5}"#, #"{"name":"\u202e \u0007"}"#].enumerated() {
            world.post(.metadata, by: world[1].keys, text, at: ReducerWorld.start + Int64(number) + 1)
            world.now += 90_000_000
            world.act(0, .refreshProfile)
            world.settle()
            #expect(world.names(0) == [nil, nil], "\(text)")
        }
    }

    @Test func showsPeerBeforeAndAfterFetch() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        world.connect(0)
        world.settle()
        let peer = KeyPair.generate(using: &world.random)
        world.post(.metadata, by: peer, #"{"name":"p","about":"me","picture":"https://x.example/p.png"}"#)
        world.act(0, .openPeerProfile(peer.publicKey), "open")
        #expect(world[0].outcomes["open"] == .done(chatID: nil))
        #expect(world[0].model.state.peerProfile?.profile == AppState.Profile(publicKey: peer.publicKey))
        world.settle()
        let shown = try #require(world[0].model.state.peerProfile)
        #expect(shown.profile.name == "p" && shown.profile.about == "me" && !shown.isFollowed)
        #expect(shown.profile.picture == "https://x.example/p.png" && shown.profile.shownName == "p")
        world.act(0, .follow(peer.publicKey))
        world.settle()
        #expect(world[0].model.state.peerProfile?.isFollowed == true)
        world.act(0, .closePeerProfile)
        #expect(world[0].model.state.peerProfile == nil)
        // A profile that is no longer needed is deleted when it is old.
        world.act(0, .unfollow(peer.publicKey))
        world.advance(seconds: 2 * ProfileDirectory.lifetime)
        #expect(world.memos(.profile, 0) == 1)
    }

    @Test func boundsStoredProfiles() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        let tags = (0..<ProfileDirectory.capacity + 50).map { number in
            Nostr.Tag("p", String(repeating: "0", count: 56) + String(format: number))
        }
        world.post(.followList, by: world[0].keys, "", tags: tags)
        world.connect(0)
        world.settle()
        #expect(world[0].model.state.followList.count == ProfileDirectory.capacity)
        #expect(world.memos(.profile, 0) == ProfileDirectory.capacity)
    }
}

extension String {
    /// Eight hexadecimal digits.
    fileprivate init(format number: Int) {
        let digits = String(number, radix: 16)
        self = String(repeating: "0", count: 8 - digits.count) + digits
    }
}

@Suite struct ShownTextTests {
    @Test func limitsNamesToOneLine() {
        #expect(DisplayText.name("  Alice\n Bob\t") == "Alice  Bob")
        #expect(DisplayText.name("\u{202E}evil\u{2066}\u{200F}") == "evil")
        #expect(DisplayText.name("\u{0}\u{1B}[31mred\u{7F}\u{85}") == "[31mred")
        #expect(DisplayText.name("👨‍👩‍👧 é") == "👨‍👩‍👧 é")
        for empty in ["", " \n", "\u{200B}\u{FEFF}", "\u{202E}", nil] { #expect(DisplayText.name(empty) == nil) }
        let long = String(repeating: "é", count: 1_000_000)
        #expect(DisplayText.name(long)?.count == DisplayText.nameLimit)
        let marks = "e" + String(repeating: "\u{0301}", count: 1_000_000)
        #expect(DisplayText.name(marks)?.unicodeScalars.count == DisplayText.nameLimit)
        let blanks = String(repeating: " ", count: 1_000_000)
        #expect(DisplayText.name("a" + blanks + "b") == "a" && DisplayText.name(blanks + "b") == "b")
    }

    @Test func textsKeepTheirLines() {
        #expect(DisplayText.about(" one\n\ntwo\u{202D} ") == "one\n\ntwo")
        #expect(DisplayText.about(String(repeating: "x", count: 9999))?.count == DisplayText.aboutLimit)
    }

    @Test func refusesUnsafeAddresses() {
        #expect(DisplayText.address("https://x.example/é.png") == "https://x.example/é.png")
        for invalid in ["", "a b", "a\nb", "\u{202E}a", String(repeating: "x", count: 2049), nil] {
            #expect(DisplayText.address(invalid) == nil)
        }
    }
}
