import Nostr
import PikaCore
import ProcessSupport
import Testing

@testable import BotTesting
@testable import Daemon

/// Commands and their events, over a lab's relay.
@Suite struct EngineTests {
    private struct Scene {
        let daemon: DaemonLab
        let bob: LabMember
        let chat: ChatID
    }

    /// Returns a daemon in a chat that it has created with Bob.
    private static func scene(_ seed: UInt64 = 1, groupProtocol: GroupProtocol = .auto) async throws -> Scene {
        let daemon = try await DaemonLab.make(seed: seed)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result(
            "init_group",
            ["peer_pubkey": .string(bob.publicKey.npub), "protocol": .string(groupProtocol.rawValue)])
        return Scene(daemon: daemon, bob: bob, chat: try #require(made["nostr_group_id"]?.chatID))
    }

    @Test(arguments: [GroupProtocol.v1, .v2])
    func departureIsProposedBeforeItsCommit(_ groupProtocol: GroupProtocol) async throws {
        let scene = try await Self.scene(21, groupProtocol: groupProtocol)
        try await scene.daemon.lab.advance(by: .seconds(10))
        scene.bob.begin(.leaveGroup(chatID: scene.chat))
        try await scene.daemon.lab.advance(by: .seconds(60))
        let proposals = scene.daemon.events("proposal_received")
        #expect(proposals.count == 1)
        #expect(proposals.first?["from_pubkey"]?.string == scene.bob.publicKey.hex)
        #expect(proposals.first?["nostr_group_id"]?.string == scene.chat.rawValue)
        #expect(proposals.first?["departure"] == .bool(true))
        let types = scene.daemon.types()
        let proposed = try #require(types.lastIndex(of: "proposal_received"))
        let updated = try #require(types.lastIndex(of: "group_updated"))
        #expect(proposed < updated)
        let update = scene.daemon.events("group_updated").last?["update"]
        #expect(update?["kind"] == "members_removed")
    }

    @Test func readyComesFirst() async throws {
        let daemon = try await DaemonLab.make(seed: 1)
        #expect(
            daemon.lines.first == (try JSONValue(json: DaemonEvent.ready(account: daemon.account.publicKey).line())))
        #expect(daemon.lines.count == 1)
    }

    @Test func startsOfflineAfterTimeout() async throws {
        let lab = try GroupLab(seed: 2)
        lab.network.takeDown(lab.relay)
        let daemon = try await DaemonLab.make(seed: 2, lab: lab)
        try await lab.advance(by: .seconds(89))
        #expect(daemon.lines.isEmpty)
        try await lab.advance(by: .seconds(2))
        #expect(daemon.lines.first?["type"] == "ready" && !daemon.standard.lines.isDone)
    }

    @Test func setsRelaysAndPublishesKeyPackage() async throws {
        let daemon = try await DaemonLab.make(seed: 3)
        let relay = JSONValue.string(daemon.lab.relay.string)
        #expect(try await daemon.result("set_relays", ["relays": [relay]]) == ["relays": [relay]])
        #expect(try await daemon.failure("set_relays", ["relays": ["nonsense"]]) == "bad_relays")
        #expect(try await daemon.failure("set_relays", ["relays": [" "]]) == "bad_relays")
        let published = try await daemon.result("publish_keypackage", ["relays": [relay]])
        let id = try #require(published["event_id"]?.string)
        #expect(daemon.lab.network.events(at: daemon.lab.relay).contains { $0.kind == .keyPackage && $0.id.hex == id })
        #expect(daemon.lines.last == ["type": "keypackage_published", "event_id": .string(id)])
    }

    @Test func publishKeyPackageReportsEachRelay() async throws {
        let lab = try GroupLab(seed: 4, relays: 2)
        let daemon = try await DaemonLab.make(seed: 4, lab: lab)
        let relays = JSONValue.array(lab.relays.map { .string($0.string) })
        let first = try await daemon.result("publish_keypackage", ["relays": relays])
        #expect(first["relays"]?.array?.map { $0["status"] } == ["stored", "stored"])
        let old = try #require(first["event_id"]?.string)
        func stored() -> [String] {
            lab.network.events(at: lab.relay).filter { $0.kind == .keyPackage }.map(\.id.hex)
        }
        #expect(stored() == [old])

        // Other relays need another event. The first relay refuses it permanently, then both do.
        lab.network.onPublish { $0.event.kind == .deletion ? .deliver : .refuse("blocked: \($0.relay)") }
        let one = JSONValue.array([.string(lab.relay.string)])
        let refusal = try await daemon.command("publish_keypackage", ["relays": one])
        #expect(refusal?["code"] == "publish_failed")
        let message = try #require(refusal?["message"]?.string)
        #expect(message == "every relay refused the key package; \(lab.relay): refused (blocked: \(lab.relay))")
        #expect(stored() == [old], "no relay may store the new key package")
        #expect(daemon.events("keypackage_published").count == 1)

        lab.network.deliverEverything()
        lab.network.takeDown(lab.relays[1])
        let second = try await daemon.result("publish_keypackage", ["relays": relays])
        let answers = second["relays"]?.array ?? []
        #expect(answers.map { $0["url"]?.string } == lab.relays.map(\.string))
        #expect(answers.map { $0["status"] } == ["stored", "unreachable"])
        #expect(answers.last?["reason"] == "the relay is down")
        #expect(stored() == [second["event_id"]?.string])
    }

    @Test func publishKeyPackageWaitsForARelay() async throws {
        let lab = try GroupLab(seed: 5)
        let daemon = try await DaemonLab.make(seed: 5, lab: lab)
        lab.network.takeDown(lab.relay)
        try await daemon.say(DaemonLab.line("publish_keypackage", "k", [:]))
        #expect(daemon.lines.allSatisfy { $0["request_id"] != "k" })
        try await lab.advance(by: .seconds(26))
        let reply = try #require(daemon.lines.last { $0["request_id"] == "k" })
        #expect(reply["code"] == "publish_failed")
        #expect(
            reply["message"]?.string?.hasSuffix("it stays queued; \(lab.relay): unreachable (the relay is down)")
                == true)
    }

    @Test func registersPushToken() async throws {
        // Tokens are shared in groups of the first generation only.
        let scene = try await Self.scene(31, groupProtocol: .v1)
        let daemon = scene.daemon
        let fields: JSONObject = [
            "server_pubkey": .string(scene.bob.publicKey.hex), "relay_url": .string(daemon.lab.relay.string),
            "platform": "apns", "token_hex": "0102",
        ]
        func kinds() -> [Kind] {
            scene.bob.events.compactMap { if case .message(let message) = $0.content { message.kind } else { nil } }
        }
        _ = try await daemon.result("register_push_token", fields)
        #expect(kinds() == [.pushTokenRequest])
        _ = try await daemon.result("remove_push_token")
        #expect(kinds() == [.pushTokenRequest, .pushTokenRemoval])
        _ = try await daemon.result("set_push_notifications", ["enabled": true])
        let wrong: [(String, JSONValue, String)] = [
            ("server_pubkey", "nobody", "bad_pubkey"), ("relay_url", "https://relay.example", "bad_relays"),
            ("platform", "sms", "bad_request"), ("token_hex", "0", "bad_request"), ("token_hex", "", "bad_request"),
        ]
        for (name, value, code) in wrong {
            var changed = fields
            changed[name] = value
            #expect(try await daemon.failure("register_push_token", changed) == code, "\(name)")
        }
    }

    @Test func initGroupSurroundsItsReplyWithEvents() async throws {
        let scene = try await Self.scene()
        #expect(scene.daemon.types(from: 1) == ["group_updated", "ok", "group_created"])
        let update = try #require(scene.daemon.lines[1]["update"])
        #expect(update["kind"] == "created" && update["member_count"] == 2)
        #expect(update["profile"]?["name"] == "DM" && update["profile"]?["picture_url"] == .null)
        #expect(scene.daemon.lines[3]["peer_pubkey"]?.string == scene.bob.publicKey.hex)
        let listed = try await scene.daemon.result("list_groups")["groups"]?.array
        #expect(listed?.count == 1 && listed?.first?["nostr_group_id"]?.chatID == scene.chat)
        let members = try await scene.daemon.result("list_members", ["nostr_group_id": .string(scene.chat.rawValue)])
        let admins = members["members"]?.array?.filter { $0["is_admin"] == true }
        #expect(members["member_count"] == 2 && admins?.count == 2)
        let keys = members["members"]?.array?.compactMap { $0["pubkey"]?.string } ?? []
        #expect(keys == keys.sorted())
        #expect(try await scene.daemon.failure("init_group", ["peer_pubkey": "x"]) == "bad_pubkey")
        let stranger = String(repeating: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", count: 1)
        #expect(try await scene.daemon.failure("init_group", ["peer_pubkey": .string(stranger)]) == "no_key_packages")
    }

    @Test func sendsAndReceivesMessages() async throws {
        let scene = try await Self.scene()
        let group = JSONValue.string(scene.chat.rawValue)
        let sent = try await scene.daemon.result("send_message", ["nostr_group_id": group, "content": "hello"])
        #expect(scene.bob.heard() == ["hello"])
        let answer = try await scene.bob.say("hi", in: scene.chat)
        let received = try #require(scene.daemon.events("message_received").last)
        #expect(received["message_id"]?.string == answer.hex && received["event_id"]?.string == answer.hex)
        #expect(
            received["content"] == "hi" && received["kind"] == 9 && received["media"] == nil
                && received["cursor"] == nil)
        #expect(scene.daemon.account.store.inbox.isEmpty)
        let reacted = try await scene.daemon.result(
            "react", ["nostr_group_id": group, "event_id": .string(answer.hex), "emoji": " + "])
        let wrappers = scene.daemon.lab.network.events(at: scene.daemon.lab.relay).map(\.id.hex)
        #expect(wrappers.contains(reacted["event_id"]?.string ?? ""))
        let messages = try await scene.daemon.result("get_messages", ["nostr_group_id": group, "limit": 2])
        #expect(messages["messages"]?.array?.count == 2)
        let all = try await scene.daemon.result("get_messages", ["nostr_group_id": group])["messages"]?.array
        #expect(all?.contains { $0["message_id"] == sent["event_id"] && $0["content"] == "hello" } == true)
        #expect(scene.daemon.events("message_received").count == 1, "an account's own messages must not be reported")
    }

    @Test(arguments: [GroupProtocol.v1, .v2])
    func reportsBeginningOfStream(_ groupProtocol: GroupProtocol) async throws {
        let scene = try await Self.scene(groupProtocol: groupProtocol)
        let start = OutgoingMessage(kind: .agentStreamStart, content: "", tags: [Nostr.Tag("stream", "aa")])
        scene.bob.begin(.sendMessage(chatID: scene.chat, start))
        try await scene.daemon.lab.advance(by: .seconds(10))
        #expect(scene.daemon.events("message_received").map { $0["kind"] } == [1200])
    }

    @Test func refusesInvalidMessageCommands() async throws {
        let scene = try await Self.scene()
        let group = JSONValue.string(scene.chat.rawValue)
        let id = JSONValue.string(String(repeating: "0", count: 64))
        let cases: [(String, JSONObject, String)] = [
            ("send_message", ["nostr_group_id": id, "content": "x"], "bad_group_id"),
            ("react", ["nostr_group_id": group, "event_id": "x", "emoji": "+"], "bad_event_id"),
            ("react", ["nostr_group_id": group, "event_id": id, "emoji": " "], "bad_emoji"),
            ("react", ["nostr_group_id": id, "event_id": id, "emoji": "+"], "bad_group_id"),
            ("submit_hypernote_action", ["nostr_group_id": group, "event_id": id, "action": ""], "bad_action"),
            ("send_media", ["nostr_group_id": group, "file_path": "/nonexistent"], "file_error"),
            ("send_media_batch", ["nostr_group_id": group, "file_paths": []], "file_error"),
            ("list_members", ["nostr_group_id": "x"], "bad_group_id"),
            ("get_messages", ["nostr_group_id": id], "mdk_error"),
            ("get_messages", ["nostr_group_id": group, "limit": 0], "mdk_error"),
            ("add_members", ["nostr_group_id": group, "peer_pubkeys": []], "bad_request"),
            ("add_members", ["nostr_group_id": group, "peer_pubkeys": [""]], "bad_pubkey"),
            ("remove_members", ["nostr_group_id": id, "peer_pubkeys": [id]], "bad_pubkey"),
            ("leave_group", ["nostr_group_id": id], "bad_group_id"),
            ("update_group_profile", ["nostr_group_id": group, "name": " ", "about": ""], "bad_request"),
            (
                "upload_group_profile_image", ["nostr_group_id": group, "image_base64": "!", "mime_type": "image/png"],
                "bad_request"
            ),
            (
                "upload_group_profile_image", ["nostr_group_id": group, "image_base64": "AQID", "mime_type": "text/x"],
                "bad_mime_type"
            ),
            ("accept_welcome", ["wrapper_event_id": "x"], "bad_event_id"),
            ("accept_welcome", ["wrapper_event_id": id], "not_found"),
        ]
        for (name, fields, code) in cases {
            #expect(try await scene.daemon.failure(name, fields) == code, "\(name) \(fields)")
        }
        scene.daemon.lab.network.onPublish { _ in .refuse("blocked: no") }
        #expect(
            try await scene.daemon.failure("send_message", ["nostr_group_id": group, "content": "x"])
                == "publish_failed")
    }

    @Test(arguments: [GroupProtocol.v1, .v2])
    func addsAndRemovesMembers(_ groupProtocol: GroupProtocol) async throws {
        let scene = try await Self.scene(groupProtocol: groupProtocol)
        let carol = try await scene.daemon.lab.member("carol")
        let peers: JSONObject = [
            "nostr_group_id": .string(scene.chat.rawValue), "peer_pubkeys": [.string(carol.publicKey.hex)],
        ]
        let first = scene.daemon.lines.count
        let added = try await scene.daemon.result("add_members", peers)
        #expect(added["member_count"] == 3 && added["welcome_delivery_count"] == 1)
        #expect(added["added_pubkeys"] == [.string(carol.publicKey.hex)])
        let removed = try await scene.daemon.result("remove_members", peers)
        #expect(removed["member_count"] == 2 && removed["removed_pubkeys"] == [.string(carol.publicKey.hex)])
        #expect(scene.daemon.types(from: first) == ["group_updated", "ok", "group_updated", "ok"])
        let kinds = scene.daemon.events("group_updated").compactMap { $0["update"]?["kind"]?.string }
        #expect(kinds == ["created", "members_added", "members_removed"])
        let reply = try await scene.daemon.result("leave_group", ["nostr_group_id": .string(scene.chat.rawValue)])
        #expect(reply == ["nostr_group_id": .string(scene.chat.rawValue)])
        // The chat is left at once, not only when the peer has removed the account. In the second generation the message
        // waits until the peer has settled the changes.
        let message = scene.bob.begin(
            .sendMessage(chatID: scene.chat, OutgoingMessage(content: "between ourselves")))
        try await scene.daemon.lab.advance(by: .seconds(2))
        guard case .queued? = scene.bob.outcome(of: message) else {
            Issue.record("the message must have been sent")
            return
        }
        #expect(scene.daemon.events("message_received").isEmpty)
        let id: JSONObject = ["nostr_group_id": .string(scene.chat.rawValue)]
        #expect(try await scene.daemon.result("list_groups") == ["groups": []])
        for name in ["list_members", "leave_group", "get_group_profile"] {
            #expect(try await scene.daemon.failure(name, id) == "bad_group_id", "\(name)")
        }
        #expect(
            try await scene.daemon.failure(
                "send_message", ["nostr_group_id": .string(scene.chat.rawValue), "content": "x"]) == "bad_group_id")
        try await scene.daemon.lab.advance(by: .seconds(60))
        let last = scene.daemon.events("group_updated").compactMap { $0["update"]?["kind"]?.string }
        #expect(last == kinds + ["left"], "the subsequent removal must not be reported")
    }

    @Test func disbandsGroupOfSecondGeneration() async throws {
        let lab = try GroupLab(seed: 41, groupProtocol: .v2)
        let daemon = try await DaemonLab.make(seed: 41, lab: lab)
        let bob = try await lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.npub)])
        #expect(made["protocol"] == "v2")
        let group: JSONObject = ["nostr_group_id": try #require(made["nostr_group_id"])]
        try await lab.advance(by: .seconds(10))
        let first = daemon.lines.count
        try await daemon.say(DaemonLab.line("disband_group", "d", group))
        try await lab.advance(by: .seconds(10))
        #expect(daemon.types(from: first) == ["group_updated", "ok"])
        #expect(daemon.events("group_updated").last?["update"]?["kind"] == "left")
        #expect(try await daemon.result("list_groups") == ["groups": []])
        #expect(try await daemon.failure("leave_group", group) == "bad_group_id")
        #expect(try await bob.state().chatList.allSatisfy { !$0.isActive })
    }

    @Test(arguments: [GroupProtocol.v1, .v2])
    func reportsChangesByOthers(_ groupProtocol: GroupProtocol) async throws {
        let scene = try await Self.scene(groupProtocol: groupProtocol)
        let carol = try await scene.daemon.lab.member("carol")
        let first = scene.daemon.lines.count
        _ = try await scene.bob.perform(.addGroupMembers(chatID: scene.chat, peers: [carol.publicKey]))
        _ = try await scene.bob.perform(.renameGroup(chatID: scene.chat, name: "other"))
        _ = try await scene.bob.perform(.removeGroupMembers(chatID: scene.chat, peers: [carol.publicKey]))
        // In the second generation commits are settled after a second without others.
        try await scene.daemon.lab.advance(by: .seconds(2))
        _ = try await scene.bob.perform(
            .removeGroupMembers(chatID: scene.chat, peers: [scene.daemon.account.publicKey]))
        try await scene.daemon.lab.advance(by: .seconds(2))
        let updates = scene.daemon.lines.dropFirst(first)
        #expect(
            updates.compactMap { $0["update"]?["kind"]?.string } == ["members_added", "members_removed", "left"])
        #expect(updates.last?["update"] == ["kind": "left", "nostr_group_id": .string(scene.chat.rawValue)])
        #expect(try await scene.daemon.result("list_groups") == ["groups": []])
    }

    @Test func setsGroupProfiles() async throws {
        let scene = try await Self.scene(5)
        let group = JSONValue.string(scene.chat.rawValue)
        let none = try await scene.daemon.result("get_group_profile", ["nostr_group_id": group])
        #expect(none["name"] == "DM" && none["about"] == "" && none["picture_url"] == .null)
        #expect(none["owner_pubkey"]?.string == scene.daemon.account.publicKey.hex)
        let first = scene.daemon.lines.count
        let saved = try await scene.daemon.result(
            "update_group_profile", ["nostr_group_id": group, "name": " Lab ", "about": "of bots"])
        #expect(saved["name"] == "Lab" && saved["about"] == "of bots" && saved["nostr_group_id"] == group)
        #expect(scene.daemon.types(from: first) == ["group_updated", "ok"])
        #expect(scene.daemon.lines[first]["update"]?["kind"] == "profile_updated")
        #expect(scene.daemon.lines[first]["update"]?["profile"] == saved)
        #expect(try await scene.daemon.result("get_group_profile", ["nostr_group_id": group]) == saved)

        try await scene.daemon.lab.advance(by: .seconds(5))
        let second = scene.daemon.lines.count
        try await scene.bob.perform(.saveGroupProfile(chatID: scene.chat, ProfileDraft(name: "Bob's")))
        #expect(scene.daemon.types(from: second) == ["message_received", "group_updated"])
        #expect(scene.daemon.lines[second]["kind"] == 0)
        let theirs = try await scene.daemon.result("get_group_profile", ["nostr_group_id": group])
        #expect(theirs["name"] == "Bob's" && theirs["owner_pubkey"]?.string == scene.bob.publicKey.hex)

        try await scene.daemon.lab.advance(by: .seconds(5))
        let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        let shown = try await scene.daemon.result(
            "upload_group_profile_image",
            ["nostr_group_id": group, "image_base64": .string(image), "mime_type": "image/png"])
        #expect(shown["picture_url"]?.string?.hasPrefix("https://media1.example/") == true)
        #expect(shown["name"] == "Lab")
    }

    @Test func runsCommandsInOrder() async throws {
        let scene = try await Self.scene()
        let group = JSONValue.string(scene.chat.rawValue)
        let client = try await scene.daemon.connect()
        let engine = scene.daemon.engine
        let standard = scene.daemon.standard
        let first = scene.daemon.lines.count
        for number in 0..<20 {
            let line = DaemonLab.line(
                "send_message", "n\(number)", ["nostr_group_id": group, "content": .string("\(number)")])
            let source = number % 5 == 4 ? client : standard
            Task(executorPreference: scene.daemon.lab.executor) {
                await engine.receive(.line(Array(line.utf8)), from: source)
            }
        }
        try await scene.daemon.lab.settle()
        #expect(scene.bob.heard() == (0..<20).map(String.init))
        #expect(scene.daemon.lines.dropFirst(first).count == 16)
        #expect(try await scene.daemon.read(client).map { $0["request_id"] } == ["n4", "n9", "n14", "n19"])
    }

    @Test func shutdownRepliesAndEndsTheEngine() async throws {
        let daemon = try await DaemonLab.make(seed: 4)
        let client = try await daemon.connect()
        #expect(try await daemon.command("shutdown") == ["type": "ok", "request_id": "r1"])
        #expect(daemon.standard.lines.isDone && client.lines.isClosed)
        try await daemon.say(#"{"cmd":"list_groups"}"#)
        #expect(daemon.lines.count == 2)
    }
}
