import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct GroupProfileReducerTests {
    private func save(_ world: inout ReducerWorld, _ index: Int, _ draft: ProfileDraft) {
        world.act(index, .saveGroupProfile(chatID: world[index].chatID, draft), "save")
        #expect(world[index].outcomes["save"]?.failure == nil && world[index].outcomes["save"] != nil)
        world.settle()
    }

    private func send(_ world: inout ReducerWorld, _ index: Int, _ content: String, tags: [Nostr.Tag] = []) {
        world.act(
            index,
            .sendMessage(
                chatID: world[index].chatID, OutgoingMessage(kind: .metadata, content: content, tags: tags)))
        world.settle()
    }

    /// The kind 0 messages that an account has stored: author and content.
    private func profiles(_ world: ReducerWorld, _ index: Int) -> [String] {
        world[index].durable.messages.filter { $0.rumor.kind == .metadata }.map(\.rumor.content)
    }

    @Test func groupProfileOverridesPublicProfile() throws {
        var world = try ReducerWorld.group(3)
        world.post(.metadata, by: world[1].keys, #"{"name":"public","about":"everywhere"}"#)
        world.connect(0)
        world.settle()
        #expect(world.names(0) == [nil, "public", nil])
        world.act(1, .saveGroupProfile(chatID: world[1].chatID, ProfileDraft(name: "bob", about: "here")), "save")
        guard case .queued(let id, _) = world[1].outcomes["save"] else { throw AppCoreError(.notAllowed, "save") }
        #expect(world.names(1) == [nil, "bob", nil])
        world.settle()
        let message = try #require(world[0].durable.messages.last)
        #expect(message.id == id && message.rumor.kind == .metadata && message.rumor.tags.isEmpty)
        #expect(message.rumor.content == #"{"name":"bob","display_name":"bob","about":"here"}"#)
        for index in [0, 2] {
            #expect(world.names(index) == [nil, "bob", nil])
            #expect(world[index].model.state.chatList.first?.unreadCount == 0)
            #expect(world[index].model.state.chatList.first?.lastMessage == nil)
            guard case .message(let event)? = world[index].delivered.last?.content else {
                throw AppCoreError(.notAllowed, "not delivered")
            }
            #expect(event.kind == .metadata && event.id == id)
        }
        // The name is known only in the group.
        #expect(world[0].model.shownName(of: world[1].key) == "public")
        try world.restart(0)
        #expect(world.names(0) == [nil, "bob", nil])
        // Omitted fields stay, empty ones are removed.
        self.save(&world, 1, ProfileDraft(name: ""))
        #expect(self.profiles(world, 0).last == #"{"about":"here"}"#)
        #expect(world.names(0) == [nil, "public", nil])
    }

    @Test func keepsNewestProfileOfMember() throws {
        var world = try ReducerWorld.group(2)
        self.save(&world, 1, ProfileDraft(name: "one"))
        self.save(&world, 1, ProfileDraft(name: "two"))
        #expect(world.names(0) == [nil, "two"] && world.names(1) == [nil, "two"])
        // A clock that is set back a little makes no difference.
        world.now -= 100_000
        self.save(&world, 1, ProfileDraft(name: "three"))
        #expect(world.names(0) == [nil, "three"] && world.names(1) == [nil, "three"])
        // When set back further, other members keep the newer profile, as in Pika; its owner does not.
        world.now -= 200_000
        self.save(&world, 1, ProfileDraft(name: "four"))
        #expect(world.names(0) == [nil, "three"] && world.names(1) == [nil, "four"])
    }

    @Test func onlyAdminsRelayProfilesOfSilentMembers() throws {
        var world = try ReducerWorld.group(3)
        let tag = Nostr.Tag.user(world[2].key)
        // Account 1 is not an admin.
        self.send(&world, 1, #"{"name":"liar"}"#, tags: [tag])
        for index in [0, 2] {
            #expect(world.names(index) == [nil, nil, nil])
            #expect(
                world[index].notes.contains { if case .refused("bad_group_profile", _) = $0 { true } else { false } })
        }
        self.send(&world, 0, #"{"name":"told"}"#, tags: [tag])
        #expect(world.names(1) == [nil, nil, "told"])
        // Other members cannot set an account's own profile.
        #expect(world.names(2) == [nil, nil, nil])
        world.now += 10_000
        self.send(&world, 0, #"{"name":"told again"}"#, tags: [tag])
        #expect(world.names(1) == [nil, nil, "told again"])
        world.now -= 5000
        self.save(&world, 2, ProfileDraft(name: "carol"))
        #expect(world.names(1) == [nil, nil, "carol"])
        world.now += 60_000
        self.send(&world, 0, #"{"name":"told later"}"#, tags: [tag])
        #expect(world.names(1) == [nil, nil, "carol"])
        // Profiles of strangers are ignored.
        let stranger = KeyPair.generate(using: &world.random).publicKey
        self.send(&world, 0, #"{"name":"stranger"}"#, tags: [.user(stranger)])
        self.send(&world, 0, #"{"name":"nobody"}"#, tags: [Nostr.Tag("p", "zz")])
        self.send(&world, 0, #"{"name":"nobody"}"#, tags: [Nostr.Tag("p")])
        #expect(world[1].model.people.groups.profiles.values.flatMap(\.keys) == [world[2].key])
        // The recipient itself may be named.
        self.send(&world, 0, #"{"name":"alice"}"#, tags: [.user(world[0].key)])
        #expect(world.names(1)[0] == "alice")
    }

    @Test func judgesAdminByMessageEpoch() throws {
        var world = try ReducerWorld.group(3)
        let tag = Nostr.Tag.user(world[2].key)
        // Account 0 sends account 2's profile, and gives up its role before account 1 receives it.
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[0].key, world[1].key]))
        world.settle()
        world.act(
            0,
            .sendMessage(
                chatID: world[0].chatID, OutgoingMessage(kind: .metadata, content: #"{"name":"told"}"#, tags: [tag])))
        world.settle(offline: [1])
        let message = try #require(world.relayed.last)
        world.act(1, .setGroupAdmins(chatID: world[1].chatID, admins: [world[1].key]))
        world.settle()
        #expect(world[1].group?.data.admins == [world[1].key])
        world.receive(1, message)
        #expect(world.names(1) == [nil, nil, "told"])
        // Conversely, messages from before the promotion are not accepted afterwards.
        world.act(
            2,
            .sendMessage(
                chatID: world[2].chatID,
                OutgoingMessage(kind: .metadata, content: #"{"name":"early"}"#, tags: [.user(world[0].key)])))
        world.settle(offline: [1])
        let early = try #require(world.relayed.last)
        world.act(1, .setGroupAdmins(chatID: world[1].chatID, admins: [world[1].key, world[2].key]))
        world.settle()
        try world.restart(1)
        world.receive(1, early)
        #expect(world.names(1) == [nil, nil, "told"])
    }

    @Test func refusesOrTruncatesHostileProfiles() throws {
        var world = try ReducerWorld.group(2)
        self.save(&world, 1, ProfileDraft(name: "bob"))
        let deep = String(repeating: "[", count: 200)
        for text in ["", "x", "[]", "null", "{\"name\":\"x\"", "{\"a\":\(deep)"] {
            self.send(&world, 1, text)
            #expect(world.names(0) == [nil, "bob"], "\(text)")
        }
        let long = String(repeating: "n", count: 30_000)
        self.send(&world, 1, #"{"name":"\#(long)","x":"\#(long.prefix(10))"}"#)
        #expect(world.names(0)[1]?.count == DisplayText.nameLimit)
        let memo = try #require(
            world[0].durable.state.memos[GroupProfile.memoName(world[0].group?.groupID ?? [], world[1].key)])
        #expect(memo.count < 1000)
        self.send(&world, 1, #"{"name":"\u202ebob\u0000","picture":"javascript:\n"}"#)
        #expect(world.names(0) == [nil, "bob"])
        #expect(world[0].model.people.groups.profiles.values.first?[world[1].key]?.shown.picture == nil)
        try world.restart(0)
        #expect(world.names(0) == [nil, "bob"])
    }

    @Test func sendsNewMembersProfileOncePerEpoch() throws {
        var world = try ReducerWorld(4)
        for index in 0..<4 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key, world[2].key]))
        world.settle()
        self.save(&world, 0, ProfileDraft(name: "alice"))
        self.save(&world, 1, ProfileDraft(name: "bob"))
        #expect(world.names(2) == ["alice", "bob", nil, nil])
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[3].key]))
        world.settle()
        #expect(world.names(3) == ["alice", "bob", nil, nil])
        // Alice sent her own and Bob's profile, Bob his own, Carol none.
        let profiles = world[3].durable.messages.filter { $0.rumor.kind == .metadata }
        #expect(profiles.count == 3)
        #expect(profiles.filter { $0.rumor.pubkey == world[0].key }.map(\.rumor.tags).contains([.user(world[1].key)]))
        // A commit without added members: the other members announce their profiles again, as Pika does.
        let before = self.profiles(world, 3).count
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "New"))
        world.settle()
        #expect(self.profiles(world, 3).count == before + 1)
        world.connect(0)
        world.connect(1)
        world.settle()
        try world.restart(1)
        world.connect(1)
        world.settle()
        #expect(self.profiles(world, 3).count == before + 1)
    }

    @Test func sendsProfileOnceAfterManyCommits() throws {
        var world = try ReducerWorld.group(2)
        self.save(&world, 1, ProfileDraft(name: "bob"))
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .disconnected)))
        for name in ["a", "b", "c"] {
            world.act(0, .renameGroup(chatID: world[0].chatID, name: name))
            world.settle(offline: [1])
        }
        world.connect(1)
        #expect(world[1].group?.epoch == world[0].group?.epoch)
        world.settle()
        #expect(self.profiles(world, 0).count == 2)
    }

    @Test func adminsResendProfilesToReturningMembers() throws {
        var world = try ReducerWorld.group(3)
        self.save(&world, 2, ProfileDraft(name: "carol"))
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key]))
        world.settle()
        world.now += 10_000
        self.save(&world, 2, ProfileDraft(name: "caroline"))
        #expect(world[1].model.people.groups.profiles.values.first?[world[2].key]?.shown.name == "carol")
        world.now += 10_000
        world.reduce(2, .relay(.state(relay: ReducerWorld.relay, .disconnected)))
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[1].key]))
        world.settle(offline: [2])
        #expect(world.names(1) == [nil, nil, "caroline"])
    }

    // MARK: Pictures

    private static let image = OutgoingImage(
        bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3], mediaType: "image/png")

    private func upload(_ world: ReducerWorld, _ index: Int) -> (operation: Int, blob: MediaUpload)? {
        world[index].due.lazy.compactMap { effect in
            if case .upload(let operation, let blobs, _) = effect { blobs.first.map { (operation, $0) } } else { nil }
        }.last
    }

    @Test func encryptsUploadsAndReferencesPicture() throws {
        var world = try ReducerWorld.group(2)
        self.save(&world, 1, ProfileDraft(name: "bob"))
        world.act(1, .saveGroupProfile(chatID: world[1].chatID, ProfileDraft(image: Self.image)), "image")
        var (operation, blob) = try #require(self.upload(world, 1))
        #expect(blob.contentType == "application/octet-stream" && blob.bytes != Self.image.bytes)
        #expect(world[1].outcomes["image"] == nil)
        // After a commit, the image is encrypted again for the new epoch.
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "b"))
        world.settle()
        world.reduce(1, .uploaded(operation: operation, .success(["https://x.example/1"])))
        (operation, blob) = try #require(self.upload(world, 1))
        world.reduce(1, .uploaded(operation: operation, .success(["https://x.example/2"])))
        guard case .queued? = world[1].outcomes["image"] else { throw AppCoreError(.notAllowed, "no end") }
        world.settle()
        let rumor = try #require(world[0].durable.messages.last?.rumor)
        #expect(
            rumor.content == #"{"name":"bob","display_name":"bob","picture":"https://x.example/2"}"#)
        let reference = try MediaReference(try #require(rumor.tags.first))
        #expect(rumor.tags.count == 1 && reference.filename == "profile.png")
        let groupID = try #require(world[0].group?.groupID)
        func check(_ index: Int) throws {
            let profile = try #require(world[index].model.people.groups[groupID][world[1].key])
            let picture = try #require(profile.picture)
            let keys = try picture.keys.map { try MediaKey(stored: $0) }
            #expect(
                try EncryptedMedia.decrypt(blob.bytes, of: MediaReference(picture.reference), keys: keys)
                    == Self.image.bytes)
        }
        for index in 0..<2 { try check(index) }
        // A changed text with the same image: its key stays known, also after a restart.
        self.save(&world, 1, ProfileDraft(about: "text"))
        #expect(world[0].durable.messages.last?.rumor.tags == [])
        try world.restart(0)
        for index in 0..<2 { try check(index) }
        self.save(&world, 1, ProfileDraft(picture: ""))
        #expect(world[0].model.people.groups[groupID][world[1].key]?.picture == nil)
    }

    @Test func reportsPictureFailures() throws {
        var world = try ReducerWorld.group(2)
        func refusal(_ image: OutgoingImage) -> AppCoreError.Code? {
            world.act(1, .saveGroupProfile(chatID: world[1].chatID, ProfileDraft(image: image)), "x")
            return world.accounts[1].outcomes.removeValue(forKey: "x")?.failure
        }
        #expect(refusal(OutgoingImage(bytes: Self.image.bytes, mediaType: "text/plain")) == .notAllowed)
        #expect(refusal(OutgoingImage(bytes: [1, 2, 3], mediaType: "image/png")) == .notAllowed)
        #expect(refusal(OutgoingImage(bytes: Self.image.bytes, mediaType: "nonsense")) == .notAllowed)
        let large = OutgoingImage(
            bytes: Self.image.bytes + [UInt8](repeating: 0, count: CoreModel.maximumPictureBytes),
            mediaType: "image/png")
        #expect(refusal(large) == .notAllowed)
        world.act(1, .saveGroupProfile(chatID: world[1].chatID, ProfileDraft(image: Self.image)), "image")
        let (operation, _) = try #require(self.upload(world, 1))
        world.reduce(1, .uploaded(operation: operation, .failure(AppCoreError(.mediaFailed, "no"))))
        #expect(world[1].outcomes["image"]?.failure == .mediaFailed)
        #expect(world[1].model.people.groups.profiles.isEmpty)
        world.act(1, .saveGroupProfile(chatID: "00", ProfileDraft(name: "x")), "unknown")
        #expect(world[1].outcomes["unknown"]?.failure == .unknownChat)
        world.act(
            1,
            .saveGroupProfile(
                chatID: world[1].chatID, ProfileDraft(name: String(repeating: "x", count: 257))), "long")
        #expect(world[1].outcomes["long"]?.failure == .notAllowed)
    }
}
